-- Forms of earlier versions: they mean what they meant.
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  framework = "mindspore",
  mindspore = "2.3",
  cluster = { hosts = 2, devices_per_host = 2 },
  plan = function(p, job)
    context.set_context { mode = context.GRAPH_MODE, device_target = "Ascend" }
    local metrics = job:port { "metrics", number = 9000, host = 1 }
    job:role "log" { command = { "collect", metrics }, hosts = { 1 } }
    job:workers {
      command = { "train" },
      each = function(process)
        context.set_context { device_id = process.local_rank }
        context.set_auto_parallel_context { global_rank = process.rank }
      end,
    }
  end,
}
