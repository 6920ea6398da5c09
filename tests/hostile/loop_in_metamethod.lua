-- expect: limit
local t = setmetatable({}, { __index = function() while true do end end })
local x = t.x
