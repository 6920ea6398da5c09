-- args: --devices free
local muster = require "muster"
local context = require "muster.context"
return muster.recipe {
  name = "free",
  framework = "mindspore",
  mindspore = "2.3",
  cluster = { devices_per_host = 4, share_devices = false },
  plan = function(p, job)
    context.set_context { device_target = "Ascend" }
    job:workers { count = 4, cores = 6, command = { "train" } }
  end,
}
