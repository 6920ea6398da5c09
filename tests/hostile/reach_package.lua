-- expect: undefined
-- message: package is not defined
return package.loadlib("libc.so.6", "*")
