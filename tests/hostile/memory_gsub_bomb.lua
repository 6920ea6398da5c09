-- expect: limit|lua
local s = ("x"):rep(1e6)
for i = 1, 10 do s = s:gsub("x", "xxxxxxxxxx") end
