-- expect: limit|lua
local t = {}
for i = 1, 1e3 do t[i] = ("x"):rep(2 ^ 20) end
return table.concat(t)
