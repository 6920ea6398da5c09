-- JAX: 2 hosts with one process each, which finds itself in what looks like a step of Slurm.
local muster = require "muster"

return muster.recipe {
  name      = "conformance-g",
  framework = { "jax", imitate = "slurm" },
  cluster   = { hosts = 2 },
  plan = function(p, job)
    job:port("coordinator", { number = 12355 })
    job:workers { per_host = 1, command = { "train" } }
  end,
}
