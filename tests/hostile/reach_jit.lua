-- expect: undefined
-- message: jit is not defined
return jit.on()
