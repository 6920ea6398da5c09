-- expect: undefined
-- message: loadstring is not defined
return loadstring("return 1")
