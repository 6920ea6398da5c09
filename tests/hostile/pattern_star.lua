-- expect: limit
local s = ("a"):rep(1e5)
return s:find((".-"):rep(30) .. "b")
