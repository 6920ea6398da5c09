-- Some processes on each node of the allocation, which do nothing: for benchmarks/slurm.
local muster = require "muster"

return muster.recipe {
  name      = "launch",
  doc       = "True on every node",
  framework = "none",
  params    = { per_host = muster.int { 64, min = 1, doc = "processes on each node" } },
  plan = function(p, job)
    job:workers { per_host = p.per_host, devices = 0, cwd = "/", command = { "/bin/true" } }
  end,
}
