-- args: --devices free
local muster = require "muster"
local context = require "muster.context"
return muster.recipe {
  name = "job",
  mindspore = "2.3",
  framework = { "mindspore-ranktable", servers = { { devices = { "198.51.100.1", "198.51.100.2" } } } },
  cluster = { devices_per_host = 2 },
  plan = function(p, job)
    context.set_context { device_target = "Ascend" }
    job:workers { count = 2, command = { "python3", "train.py" } }
  end,
}
