-- expect: undefined
-- message: newproxy is not available in a recipe
return newproxy(true)
