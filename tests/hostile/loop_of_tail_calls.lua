-- expect: limit
local function f() return f() end
f()
