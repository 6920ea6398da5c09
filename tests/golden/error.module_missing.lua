local muster = require "muster"
local optim = require "lib.optimizer"

return muster.recipe { name = "case", plan = function() end }
