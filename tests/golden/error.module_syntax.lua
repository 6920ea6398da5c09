local muster = require "muster"
local broken = require "lib.broken"

return muster.recipe { name = "case", plan = function() end }
