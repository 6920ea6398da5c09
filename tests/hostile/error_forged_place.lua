-- expect: lua
-- message: /etc/shadow:1
error("/etc/shadow:1: look at this", 0)
