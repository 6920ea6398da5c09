-- expect: undefined
-- message: loadstring is not available in a recipe
return loadstring("return 1")
