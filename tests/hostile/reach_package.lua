-- expect: undefined
-- message: package is not available in a recipe
return package.loadlib("libc.so.6", "*")
