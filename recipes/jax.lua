-- JAX on several hosts, usually one process per host, or several with their own devices. For a script that calls
-- jax.distributed.initialize() without arguments: framework = { "jax", imitate = "slurm" }.
--
--   muster plan recipes/jax.lua hosts=4 devices_per_host=8
local muster = require "muster"

return muster.recipe {
  name      = "jax",
  doc       = "A JAX script, one process per host",
  framework = "jax",

  params = {
    per_host = muster.int  { 1, min = 1, doc = "processes on each host, which share its devices" },
    script   = muster.path { "train.py", doc = "the training script" },
  },

  cluster = { hosts = 2, devices_per_host = 4 },

  plan = function(p, job)
    local d = job:derive {
      devices_per_process = muster.exact_div { devices_per_host = job.cluster.devices_per_host, by = { per_host = p.per_host } },
    }
    job:workers { per_host = p.per_host, devices = d.devices_per_process, command = { "python3", p.script, job.args } }
  end,
}
