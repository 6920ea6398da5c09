-- expect: undefined
-- message: ffi is not defined
return ffi.C.system("id")
