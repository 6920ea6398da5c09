-- expect: format
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:file { "/etc/cron.d/x", text = "x" }
    job:workers { count = 1, command = { "true" } }
  end,
}
