-- expect: text|type
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:derive { x = "\255" }
    job:workers { count = 1, command = { "true" } }
  end,
}
