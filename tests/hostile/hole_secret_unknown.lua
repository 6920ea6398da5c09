-- expect: hole|secret|plan_invalid
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers { count = 1, command = { "true" }, env = { A = "${muster:secret:root_password}" } }
  end,
}
