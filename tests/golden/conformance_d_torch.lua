-- PyTorch: 2 hosts with 4 workers each.
local muster = require "muster"

return muster.recipe {
  name      = "conformance-d",
  framework = "torch",
  cluster   = { hosts = 2, devices_per_host = 4 },
  plan = function(p, job)
    job:port("master", { number = 29500 })
    job:workers { devices = 1, command = { "train" } }
  end,
}
