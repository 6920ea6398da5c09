-- expect: undefined
-- message: io is not defined
return io.open("/etc/passwd")
