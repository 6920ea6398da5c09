-- expect: undefined
-- message: debug is not defined
return debug.getregistry()
