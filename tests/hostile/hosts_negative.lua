-- expect: range
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers { count = 1, on_hosts = { -1 }, command = { "true" } }
  end,
}
