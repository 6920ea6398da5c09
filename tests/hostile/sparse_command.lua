-- expect: command
-- message: word 2 is nil
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers { count = 1, command = { "true", [2 ^ 52] = "x", [math.huge] = "y" } }
  end,
}
