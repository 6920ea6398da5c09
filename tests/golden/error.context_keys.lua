local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  mindspore = "1.6",
  plan = function(p, job)
    context.set_context { mode = context.GRAPH_MODE, device_taget = "CPU" }
    context.set_auto_parallel_context { parallel_mode = "pipeline", gradient_mean = true, device_num = 0 }
    context.set_ps_context { enable_ps = 1 }
    job:workers { count = 2, command = { "train" } }
  end,
}
