-- expect: lua|syntax|recipe
local x = 1LL
return getmetatable(x).__add
