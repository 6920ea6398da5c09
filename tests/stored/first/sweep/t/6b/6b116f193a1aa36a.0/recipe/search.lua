local muster = require "muster"
return muster.sweep {
  name = "search", doc = "a small sweep whose directory is kept for later versions",
  recipe = muster.load "train.lua",
  space = { lr = { 0.1, 0.2 }, fail = { false, true } },
  objective = muster.minimize "loss",
}
