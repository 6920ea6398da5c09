local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  framework = "mindspore",
  mindspore = "1.6",
  cluster = { hosts = 1, devices_per_host = 8 },
  plan = function(p, job)
    context.set_context { device_target = "GPU" }
    context.set_auto_parallel_context {
      parallel_mode = context.ParallelMode.SEMI_AUTO_PARALLEL, device_num = 8, pipeline_stages = 3,
    }
    job:workers {
      count = 4, command = { "train" },
      each = function(process) process:context { device_id = process.rank + 6 } end,
    }
  end,
}
