-- expect: lua|limit
return ("x"):find(("("):rep(100))
