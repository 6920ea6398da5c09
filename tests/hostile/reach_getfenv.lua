-- expect: undefined
-- message: getfenv is not defined
return getfenv(0)
