-- expect: lua|crash|limit
local t = setmetatable({}, {})
getmetatable(t).__index = function(_, k) return t[k + 1] end
local x = t[1]
