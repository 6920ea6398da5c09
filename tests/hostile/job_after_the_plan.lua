-- expect: order|lua|roles
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers { count = 1, command = { "true" }, each = function() job:workers { command = { "true" } } end }
  end,
}
