-- expect: scope|order|unknown_key|type
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  mindspore = "1.6",
  plan = function(p, job)
    job:workers { count = 1, command = { "true" }, each = function() context.reset_auto_parallel_context() end }
  end,
}
