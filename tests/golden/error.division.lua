local muster = require "muster"

return muster.recipe {
  name = "case",
  cluster = { hosts = 2, devices_per_host = 8 },
  plan = function(p, job)
    job:derive {
      data_parallel_size = muster.exact_div { devices = job.cluster.devices, by = { pipeline_stages = 3, tensor_parallel_size = 2 } },
    }
  end,
}
