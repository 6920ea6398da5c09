local muster = require "muster"

return muster.recipe {
  name = "case",
  cluster = { hosts = 2, devices_per_host = 4 },
  plan = function(p, job)
    job:workers { count = 9, devices = 1, command = { "train" } }
  end,
}
