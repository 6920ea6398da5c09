local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  framework = "mindspore",
  mindspore = "2.3",
  cluster = { hosts = 1, devices_per_host = 2 },
  plan = function(p, job)
    context.set_context { mode = context.GRAPH_MODE, device_target = "Ascend" }
    job:workers {
      command = { "train" },
      each = function(process)
        process:context { device_id = "first" }
        process:context { globl_rank = process.rank }
        process:context { mode = context.PYNATIVE_MODE }
        process:context(process.rank)
        process:context { process.rank }
        process.context { device_id = process.rank }
      end,
    }
  end,
}
