-- expect: hole
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    local port = job:port "rpc"
    job:workers { count = 1, command = { "true", port:sub(1, -2) } }
  end,
}
