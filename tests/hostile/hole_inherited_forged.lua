-- expect: hole
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers { count = 1, command = { "true", "x${muster:inherited_path:HOME}" } }
  end,
}
