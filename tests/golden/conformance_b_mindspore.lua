-- MindSpore's dynamic cluster: 2 hosts with 8 workers each.
local muster = require "muster"

return muster.recipe {
  name      = "conformance-b",
  framework = "mindspore",
  cluster   = { hosts = 2, devices_per_host = 8 },
  plan = function(p, job)
    job:port("scheduler", { number = 20300 })
    job:workers { devices = 1, command = { "train" } }
  end,
}
