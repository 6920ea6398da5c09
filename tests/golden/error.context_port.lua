local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case", mindspore = "2.3", framework = "mindspore-ps",
  plan = function(p, job)
    job:port("scheduler", { number = 11202 })
    job:port("scheduler_manage", { number = 11203 })
    context.set_ps_context { enable_ps = true, scheduler_manage_port = 11202 }
    job:servers { count = 1, command = { "train" } }
    job:workers { count = 2, command = { "train" } }
  end,
}
