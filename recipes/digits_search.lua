-- A search over five parameters of a real training, by TPE and ASHA with promotion: trials are paused after 1, 3, 9, …
-- passes, and the best continue from their checkpoints.
--
--   muster sweep recipes/digits_search.lua --preview
--   muster sweep recipes/digits_search.lua
local muster  = require "muster"
local context = require "muster.context"

local digits = muster.recipe {
  name      = "digits-search",
  doc       = "Softmax regression on handwritten digits, which continues from its checkpoints",
  framework = "mindspore-ps",
  mindspore = "1.6",

  params = {
    epochs     = muster.int   { 81, min = 1, doc = "passes over the training data" },
    lr         = muster.float { 0.5, above = 0, doc = "learning rate" },
    decay      = muster.float { 1.0, above = 0, max = 1, doc = "factor of the learning rate after each pass" },
    l2         = muster.float { 0.0, min = 0, doc = "weight decay" },
    smoothing  = muster.float { 0.0, min = 0, below = 1, doc = "share of the targets that is spread over all digits" },
    batch_size = muster.int   { 64, min = 1, doc = "rows per step" },
  },

  cluster    = { hosts = 1, devices_per_host = 1 },
  checkpoint = { dir = "checkpoints", latest = "epoch_*.json" },

  plan = function(p, job)
    context.set_context { mode = context.GRAPH_MODE, device_target = "CPU" }
    context.set_ps_context { enable_ps = true }
    local command = {
      "ps_digits", "--epochs", p.epochs, "--lr", p.lr, "--decay", p.decay, "--l2", p.l2, "--smoothing", p.smoothing,
      "--batch-size", p.batch_size, "--checkpoints", job.checkpoint.dir,
      job.resume and { "--resume", job.resume.checkpoint } or false,
    }
    job:scheduler { command = command }
    job:servers   { count = 1, command = command }
    job:workers   { count = 1, command = command }
  end,
}

return muster.sweep {
  name   = "digits-search",
  recipe = digits,
  space  = {
    lr         = muster.log_uniform(1e-3, 10),
    decay      = muster.uniform(0.7, 1),
    l2         = muster.log_uniform(1e-6, 0.1),
    smoothing  = muster.uniform(0, 0.5),
    batch_size = muster.int_log_uniform(8, 512),
  },
  sampler    = muster.tpe { trials = 60 },
  objective  = muster.maximize "accuracy",
  early_stop = muster.asha { resource = "epoch", min = 1, max = 81, eta = 3, promote = true },
}
