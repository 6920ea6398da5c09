-- expect: lua
error(("x"):rep(2 ^ 25), 0)
