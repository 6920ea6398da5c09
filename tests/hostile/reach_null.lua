-- expect: lua
local muster = require "muster"
setmetatable(muster.null, {})
