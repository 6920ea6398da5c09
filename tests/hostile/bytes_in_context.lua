-- expect: type|enum|text|format|plan_invalid
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  mindspore = "1.6",
  plan = function(p, job)
    context.set_context { device_target = "CPU\0\255" }
    job:workers { count = 1, command = { "true" } }
  end,
}
