-- Any program built on ps-lite (an MXNet script with a dist_sync store, for example): a scheduler, servers and workers, all
-- running the same command, as the dmlc tracker starts them.
--
--   muster plan recipes/ps_lite.lua workers=4 servers=2 -- ./my_program --rounds 10
local muster = require "muster"

return muster.recipe {
  name      = "ps-lite",
  doc       = "A ps-lite program: scheduler, servers and workers with one command",
  framework = "ps-lite",

  params = {
    workers = muster.int { 2, min = 1, doc = "worker processes" },
    servers = muster.int { 2, min = 1, doc = "server processes" },
  },

  plan = function(p, job)
    local command = #job.args > 0 and job.args or { "python3", "train.py" }
    job:servers { count = p.servers, command = command }
    job:workers { count = p.workers, command = command }
  end,
}
