-- expect: text
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  doc = "\192\128",
  plan = function(p, job)
    job:workers { count = 1, command = { "true" } }
  end,
}
