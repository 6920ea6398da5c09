local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    local d = job:derive { a = 1, f = function() end, nan = 0 / 0 }
    job:derive { a = 2 }
    job:workers { count = 2, command = { "train" } }
  end,
}
