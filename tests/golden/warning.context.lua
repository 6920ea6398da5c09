local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  mindspore = "1.6",
  plan = function(p, job)
    context.set_context { device_target = "CPU", max_device_memory = "30GB" }
    context.set_auto_parallel_context { parallel_mode = context.ParallelMode.STAND_ALONE }
    job:workers { count = 2, command = { "train" } }
  end,
}
