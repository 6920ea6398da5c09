-- expect: undefined
-- message: dofile is not available in a recipe
return dofile("/etc/passwd")
