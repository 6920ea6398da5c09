local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    stages = 4
    job:workers { count = 2, command = { "train" } }
  end,
}
