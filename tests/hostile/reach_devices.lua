-- expect: read_only
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers { count = 1, devices = 1, command = { "true" }, each = function(process) process.devices[1] = 7 end }
  end,
}
