-- expect: undefined
-- message: getfenv is not available in a recipe
return getfenv(0)
