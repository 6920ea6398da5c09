-- expect: lua|syntax|no_recipe
local x = 1LL
return getmetatable(x).__add
