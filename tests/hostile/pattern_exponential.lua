-- expect: limit
local s = ("a"):rep(60)
return s:find(("a-"):rep(60) .. "b")
