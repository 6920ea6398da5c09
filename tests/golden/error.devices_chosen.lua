-- args: --devices 4-7 devices_per_host=8
local muster = require "muster"
return muster.recipe {
  name = "chosen",
  cluster = { device_kind = "gpu", share_devices = "yes" },
  plan = function(p, job)
    job:workers { count = 1, command = { "train" } }
  end,
}
