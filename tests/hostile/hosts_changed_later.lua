-- expect: range
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    local hosts = { 0 }
    hosts[2] = 1e18
    job:workers { count = 1, on_hosts = hosts, command = { "true" } }
  end,
}
