-- expect: lua
setmetatable(string, { __index = function() return error end })
