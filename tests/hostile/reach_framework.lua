-- expect: framework
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  framework = "../job",
  plan = function(p, job)
    job:workers { count = 1, command = { "true" } }
  end,
}
