-- expect: lua
local ok = xpcall(function() error("a") end, function() error("b") end)
error("after")
