-- expect: format
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  limits = { time = 1e300 },
  plan = function(p, job)
    job:workers { count = 1, command = { "true" } }
  end,
}
