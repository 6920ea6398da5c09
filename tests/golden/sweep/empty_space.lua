local muster = require "muster"

local recipe = muster.recipe {
  name = "case",
  params = { lr = muster.float { 0.1 } },
  plan = function(p, job) job:workers { count = 1, command = { "train", p.lr } } end,
}

return muster.sweep { recipe = recipe, space = {} }
