local muster = require "muster"

return muster.recipe {
  name = "case",
  checkpoint = { dir = "checkpoints", latest = "step_[", signal = "KILL", roles = {} },
  plan = function(p, job)
    job:workers { count = 2, devices = 0, command = { "train" } }
  end,
}
