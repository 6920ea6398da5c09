-- MindSpore's parameter servers on one host: a scheduler that muster adds, 2 servers, 4 workers.
local muster = require "muster"

return muster.recipe {
  name      = "conformance-a",
  framework = "mindspore-ps",
  plan = function(p, job)
    job:port("scheduler", { number = 20300 })
    job:servers { count = 2, command = { "train" } }
    job:workers { count = 4, command = { "train" } }
  end,
}
