-- expect: range
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers { count = 1e7, command = { "true" } }
  end,
}
