local muster = require "muster"

return muster.recipe {
  name = "case",
  limits = { time = "soon", memory = "1GB" },
  plan = function(p, job)
    job:workers { count = 2, command = { "train" } }
  end,
}
