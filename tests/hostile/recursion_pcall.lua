-- expect: lua|crash|limit
local function f() return pcall(f) end
f()
error("came back")
