-- A day in the life of a training on four hosts (docs/drill.md): handwritten digits through parameter servers, with a
-- checkpoint after each pass, and restarts that follow verdicts.
local muster  = require "muster"
local context = require "muster.context"

return muster.recipe {
  name       = "digits-day",
  doc        = "Softmax regression on handwritten digits, with checkpoints",
  framework  = "mindspore-ps",
  mindspore  = "1.6",
  cluster    = { hosts = 4, devices_per_host = 1 },
  checkpoint = { dir = "checkpoints", latest = "epoch_*.json" },

  plan = function(p, job)
    context.set_context { mode = context.GRAPH_MODE, device_target = "CPU" }
    context.set_ps_context { enable_ps = true }
    local digits = {
      command = { "ps_digits", "--epochs", 1000000, "--lr", 0.01, "--batch-size", 1024,
                  "--checkpoints", job.checkpoint.dir, "--resume", job.checkpoint.newest },
      restart = { max = 100, scope = "job", verdict = true, backoff = "200ms" },
    }
    job:scheduler(digits)
    job:servers { count = 1, command = digits.command, restart = digits.restart }
    job:workers { count = 4, command = digits.command, restart = digits.restart }
  end,
}
