-- expect: limit
local t = {}
for i = 1, 1e4 do t[i] = i end
while true do table.sort(t, function(a, b) return a > b end) end
