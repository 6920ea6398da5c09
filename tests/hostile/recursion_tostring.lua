-- expect: lua|crash|limit
local t
t = setmetatable({}, { __tostring = function() return tostring(t) end })
error(tostring(t))
