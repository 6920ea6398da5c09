-- args: --devices 4-7 --share-devices
local muster = require "muster"
return muster.recipe {
  name = "given",
  cluster = { device_kind = "hip", devices_per_host = 8 },
  plan = function(p, job)
    job:workers { count = 3, command = { "train" }, cores = "auto" }
    job:role "evaluator" { count = 1, devices = 1, visible = "own", cores = "0-3,8", command = { "evaluate" } }
  end,
}
