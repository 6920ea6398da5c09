-- expect: limit|lua
local s = "x"
for i = 1, 40 do s = s:rep(16) end
