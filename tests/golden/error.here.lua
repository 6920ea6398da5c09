local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { command = { "python3", muster.here "train.py" } }
  end,
}
