-- expect: command
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    local c = { "true" }
    c[2] = c
    job:workers { count = 1, command = c }
  end,
}
