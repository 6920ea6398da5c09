-- expect: limit
-- message: MiB of memory
local t = {}
pcall(function() while true do t[#t + 1] = ("x"):rep(1e6) .. #t end end)
return t
