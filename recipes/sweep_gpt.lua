-- The learning rate of gpt.lua and the layout of its processes, swept together: the recipe's own checks exclude
-- impossible layouts, and a condition excludes those that are not worth running.
--
--   muster sweep recipes/sweep_gpt.lua --preview
local muster = require "muster"

return muster.sweep {
  name   = "gpt-lr-layout",
  recipe = muster.load "gpt.lua",
  fixed  = { global_batch_size = 64, steps = 64000 },

  space = muster.product {
    learning_rate    = muster.log_uniform(1e-5, 1e-3),
    micro_batch_size = muster.choice { 1, 2, 4 },
    muster.zip {                                   -- two parameters that vary together
      pipeline_stages      = { 1, 2, 4, 8 },
      tensor_parallel_size = { 8, 4, 4, 4 },
    },
    muster.union {                                 -- the cluster is swept too
      { cluster = { hosts = 2 } },
      { cluster = { hosts = 4 } },
    },
  },

  where = function(p, d)                           -- d: the derived values of the plan function
    return d.bubble <= 0.15, "pipeline bubble above 15 %"
  end,

  sampler    = muster.sobol { seed = 7, trials = 256 },
  objective  = muster.minimize "val_loss",
  metrics    = { stdout = { step = [[iteration\s+(\d+)]], val_loss = [[val_loss:\s+(\S+)]] } },
  early_stop = muster.asha { resource = "step", min = 1000, max = 64000, eta = 4 },
  retry      = { max = 2, on = { "host_lost", "timeout" }, quarantine_host_after = 2 },
  budget     = { devices = 64, time = "36h" },
}
