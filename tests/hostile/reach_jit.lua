-- expect: undefined
-- message: jit is not available in a recipe
return jit.on()
