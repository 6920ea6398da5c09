local muster = require "muster"

return muster.recipe {
  name    = "hosts",
  cluster = { hosts = 2, host_list = { "n[1-2]:4", "n2" } },
  plan = function(p, job)
    job:workers { count = 1, command = { "true" } }
  end,
}
