-- expect: undefined
-- message: newproxy is not defined
return newproxy(true)
