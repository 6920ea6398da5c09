-- args: data_parallel_size=4 --pin layers_per_stag=3
-- A derived value cannot be set, and only a derived value can be pinned.
local muster = require "muster"

return muster.recipe {
  name = "derived",
  params = { pipeline_stages = muster.int { 2 }, layers = muster.int { 8 } },
  cluster = { hosts = 2, devices_per_host = 4 },
  plan = function(p, job)
    job:derive {
      data_parallel_size = muster.exact_div { devices = job.cluster.devices, by = { pipeline_stages = p.pipeline_stages } },
      layers_per_stage   = muster.exact_div { layers = p.layers, by = { pipeline_stages = p.pipeline_stages } },
    }
    job:workers { command = { "true" } }
  end,
}
