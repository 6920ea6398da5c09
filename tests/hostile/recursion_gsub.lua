-- expect: lua|crash|limit
local function f(s) return (s:gsub(".", f)) end
f("x")
