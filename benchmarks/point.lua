-- A trial that does nothing, for the benchmark of sweeps.
local muster = require "muster"

return muster.recipe {
  name   = "point",
  params = { x = muster.int { 0 } },
  plan = function(p, job)
    job:workers { count = 1, command = { "/bin/true", p.x } }
  end,
}
