local muster = require "muster"
return muster.sweep {
  name = "learn", doc = "a sweep that learns from its results, kept for later versions",
  recipe = muster.load "train.lua",
  space = { lr = muster.uniform(0.001, 1) },
  sampler = muster.tpe { trials = 12, seed = 7 },
  objective = muster.minimize "loss",
}
