local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { count = wokers, command = { "train" } }
  end,
}
