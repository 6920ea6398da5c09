-- expect: range|division|type
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  mindspore = "1.6",
  plan = function(p, job)
    context.set_auto_parallel_context { pipeline_stages = 2 ^ 52 }
    job:workers { count = 1, command = { "true" } }
  end,
}
