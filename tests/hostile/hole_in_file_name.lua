-- expect: format
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:file { job:port "rpc", text = "" }
    job:workers { count = 1, command = { "true" } }
  end,
}
