-- A training that lasts a second: gradient descent on a parabola, whose loss is reported at each step.
--
--   muster sweep examples/notebook/curve.lua --grid lr=0.02,0.1,0.5 --minimize loss
local muster = require "muster"

return muster.recipe {
  name   = "curve",
  doc    = "Gradient descent on a parabola",
  params = {
    lr    = muster.float { 0.1, above = 0, doc = "learning rate" },
    steps = muster.int   { 40, min = 1, doc = "steps of the descent" },
    pause = muster.float { 0.01, min = 0, doc = "seconds between two steps" },
  },
  plan = function(p, job)
    job:workers { count = 1, command = { "python3", muster.here "train.py", p.lr, p.steps, p.pause } }
  end,
}
