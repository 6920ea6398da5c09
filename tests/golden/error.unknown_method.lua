local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:worker { command = { "train" } }
  end,
}
