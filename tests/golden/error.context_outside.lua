local muster = require "muster"
local context = require "muster.context"

context.set_context { device_target = "CPU" }

return muster.recipe { name = "case", mindspore = "1.6", plan = function() end }
