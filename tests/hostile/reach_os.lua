-- expect: undefined
-- message: os is not defined
return os.execute("touch /tmp/muster-was-here")
