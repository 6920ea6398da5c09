-- The form of the documentation: roles and counts, no ids; the scheduler deals the ranks, and muster finds the port
-- at which it takes requests.
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "ps",
  framework = { "mindspore-ps", form = "minimal" },
  mindspore = "1.6",
  plan = function(p, job)
    context.set_context { device_target = "CPU" }
    context.set_ps_context { enable_ps = true, scheduler_manage_port = "auto" }
    job:servers { count = 1, command = { "train" } }
    job:workers { count = 2, command = { "train" } }
  end,
}
