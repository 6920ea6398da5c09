-- expect: limit|range|scope|unknown_key|conflict
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  mindspore = "1.6",
  cluster = { devices_per_host = 1 },
  plan = function(p, job)
    job:workers { count = 1e5, command = { "true" }, each = function(process) process:context { device_id = process.rank } while process.rank > 99 do end end }
  end,
}
