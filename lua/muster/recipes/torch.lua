-- @torch: a PyTorch script without a recipe.
--
--   muster run @torch workers=8 -- python3 train.py --lr 0.1
local muster = require "muster"

return muster.recipe {
  name      = "torch",
  doc       = "A PyTorch script, given after --, in as many processes as requested",
  framework = "torch",

  params = {
    workers  = muster.int { 1, min = 1, doc = "worker processes" },
    devices  = muster.int { -1, min = -1, doc = "devices of each worker; -1: one with --devices, else none" },
    threads  = muster.int { 0, min = 0, doc = "OMP_NUM_THREADS of each worker; 0: as torchrun sets it" },
    restarts = muster.int { 0, min = 0, doc = "how often all workers are started again after a failure" },
    env      = muster.map { {}, doc = "further variables of all processes, as --env NAME=VALUE gives them" },
  },

  plan = function(p, job)
    job:env(p.env)
    job:check(#job.args > 0, "there is nothing to run: write the command after --, as in: muster run @torch workers=8 -- python3 train.py")
    if p.threads > 0 then job:env { OMP_NUM_THREADS = p.threads } end
    job:workers { count = p.workers, devices = p.devices >= 0 and p.devices or nil,
                  command = #job.args > 0 and job.args or { "true" }, restart = { max = p.restarts, scope = "role" } }
  end,
}
