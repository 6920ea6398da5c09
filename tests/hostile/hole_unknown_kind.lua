-- expect: hole
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers { count = 1, command = { "true", "${muster:host_shadow:0}" } }
  end,
}
