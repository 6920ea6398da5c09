-- expect: undefined
-- message: load is not available in a recipe
return load("return 1")
