-- expect: type
-- message: contain themselves
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    local t = {}
    t.t = t
    job:derive { x = t }
    job:workers { count = 1, command = { "true" } }
  end,
}
