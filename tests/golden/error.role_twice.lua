local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { command = { "train" } }
    job:workers { command = { "train", "--again" } }
  end,
}
