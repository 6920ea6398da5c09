local muster = require "muster"

local recipe = muster.recipe {
  name = "case",
  params = { lr = muster.float { 0.1 }, steps = muster.int { 5 } },
  plan = function(p, job) job:workers { count = 1, command = { "train", p.lr, p.steps } } end,
}

return muster.sweep { recipe = recipe, fixed = { lr = 0.3, steps = 7 }, space = { lr = { 0.1, 0.2 } } }
