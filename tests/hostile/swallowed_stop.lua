-- expect: command|roles
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    pcall(function() job:workers { count = 1, command = "not a list" } end)
  end,
}
