-- expect: undefined
-- message: load is not defined
return load("return 1")
