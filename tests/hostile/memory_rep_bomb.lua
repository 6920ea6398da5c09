-- expect: lua
-- message: string.rep would make more than 64 MiB
return ("x"):rep(2 ^ 40)
