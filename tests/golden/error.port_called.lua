local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    local metrics = job:port "metrics" { number = 9000 }
    job:workers { count = 1, command = { "train", metrics } }
  end,
}
