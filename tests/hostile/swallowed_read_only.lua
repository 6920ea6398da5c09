-- expect: read_only
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  params = { n = muster.int { 1 } },
  plan = function(p, job)
    pcall(function() p.n = 2 end)
    job:workers { count = 1, command = { "true" } }
  end,
}
