local muster = require "muster"
return muster.recipe {
  name = "cores",
  plan = function(p, job)
    job:workers { count = 1, cores = "none", command = { "train" } }
    job:servers { count = 1, cores = 0.5, command = { "serve" } }
    job:role "third" { cores = "3-1", command = { "evaluate" } }
  end,
}
