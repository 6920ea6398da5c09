-- BytePS: hosts are ps-lite's workers; scheduler and servers run its server module.
local muster = require "muster"

return muster.recipe {
  name      = "byteps",
  framework = "byteps",
  cluster   = { hosts = 2, devices_per_host = 2 },
  plan = function(p, job)
    job:servers { count = 2 }
    job:workers { devices = 1, command = { "train" } }
  end,
}
