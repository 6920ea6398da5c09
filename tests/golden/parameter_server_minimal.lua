-- One scheduler, two servers, four workers on one host.
local muster = require "muster"

return muster.recipe {
  name = "ps",
  framework = "mindspore-ps",
  plan = function(p, job)
    job:port("scheduler", { number = 20300 })
    job:servers { count = 2, command = { "train" } }
    job:workers { count = 4, command = { "train" } }
  end,
}
