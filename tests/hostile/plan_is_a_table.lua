-- expect: type
local muster = require "muster"
return muster.recipe { name = "a", plan = setmetatable({}, { __call = function() while true do end end }) }
