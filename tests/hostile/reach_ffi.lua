-- expect: undefined
-- message: ffi is not available in a recipe
return ffi.C.system("id")
