local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    context.set_context { device_target = "CPU" }
    job:workers { count = 2, command = { "train" } }
  end,
}
