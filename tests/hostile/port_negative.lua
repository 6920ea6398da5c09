-- expect: range
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:port("x", { number = -1 })
    job:workers { count = 1, command = { "true" } }
  end,
}
