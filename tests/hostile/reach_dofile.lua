-- expect: undefined
-- message: dofile is not defined
return dofile("/etc/passwd")
