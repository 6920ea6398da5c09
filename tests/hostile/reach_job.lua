-- expect: read_only
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job.cluster.hosts = 1000
    job:workers { count = 1, command = { "true" } }
  end,
}
