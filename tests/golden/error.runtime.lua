local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    local sizes = {}
    job:workers { count = sizes.big.count, command = { "train" } }
  end,
}
