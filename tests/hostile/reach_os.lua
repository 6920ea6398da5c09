-- expect: undefined
-- message: os is not available in a recipe
return os.execute("touch /tmp/muster-was-here")
