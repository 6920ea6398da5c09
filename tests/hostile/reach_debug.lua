-- expect: undefined
-- message: debug is not available in a recipe
return debug.getregistry()
