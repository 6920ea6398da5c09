-- args: hosts=2 devices_per_host=8
-- Two hosts with eight workers each: what MindSpore's dynamic cluster finds in its environment.
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "dynamic-cluster",
  framework = "mindspore",
  mindspore = "2.3",
  cluster = { hosts = 1, devices_per_host = 8 },
  plan = function(p, job)
    job:port("scheduler", { number = 20300 })
    context.set_context { device_target = "Ascend" }
    job:workers { command = { "python3", "train.py" } }
  end,
}
