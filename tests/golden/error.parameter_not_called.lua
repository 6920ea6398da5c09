local muster = require "muster"

return muster.recipe {
  name = "case",
  params = { data = muster.string, lr = muster.float, sizes = muster.list, other = print },
  plan = function(p, job) job:workers { count = 1, command = { "train" } } end,
}
