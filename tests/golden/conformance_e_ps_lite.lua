-- ps-lite: a scheduler that muster adds, 2 servers, 2 workers.
local muster = require "muster"

return muster.recipe {
  name      = "conformance-e",
  framework = "ps-lite",
  plan = function(p, job)
    job:port("scheduler", { number = 20310 })
    job:servers { count = 2, command = { "train" } }
    job:workers { count = 2, command = { "train" } }
  end,
}
