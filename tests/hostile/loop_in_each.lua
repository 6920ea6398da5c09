-- expect: limit
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers { count = 2, command = { "true" }, each = function() while true do end end }
  end,
}
