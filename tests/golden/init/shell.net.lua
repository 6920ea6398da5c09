-- Starts what this command line starts:
--
--   bash tests/launchers/files/run_dynamic_cluster.sh
--
--   muster plan net.lua    what it would start
--   muster run net.lua     starts it
--
-- Left out, and what it did:
--   MS_ROLE, MS_WORKER_NUM, MS_SCHED_HOST, MS_SCHED_PORT, MS_NODE_ID: were exported by hand; framework mindspore sets them
--   the scheduler: was started by hand; the framework starts it
--   redirections (lines 8, 11): chose files for output; every process has its own log (`muster logs`)
local muster = require "muster"

return muster.recipe {
  name      = "net",
  framework = "mindspore",

  params = {
    per_host = muster.int { 8, min = 1, doc = "processes of each host" },
  },

  cluster = { hosts = 1, devices_per_host = 8 },

  plan = function(p, job)
    job:workers {
      per_host = p.per_host,
      -- devices = 1,  -- a device for each, which no other process gets
      command = { "python", "./net.py", job.args },
    }
  end,
}
