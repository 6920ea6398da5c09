-- expect: undefined
-- message: io is not available in a recipe
return io.open("/etc/passwd")
