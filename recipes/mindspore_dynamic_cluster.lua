-- MindSpore's dynamic cluster, as msrun starts it, on all hosts at once: a scheduler, which muster adds, and one worker
-- per device. A worker that fails is restarted and registers with the same number.
--
--   muster plan recipes/mindspore_dynamic_cluster.lua hosts=2 devices_per_host=8
local muster = require "muster"

return muster.recipe {
  name      = "mindspore-dynamic-cluster",
  doc       = "A MindSpore script on a dynamic cluster, one worker per device",
  framework = "mindspore",

  params = {
    script   = muster.path { "train.py", doc = "the training script" },
    restarts = muster.int  { 1, min = 0, doc = "how often failed workers are started again in an hour" },
  },

  cluster = { hosts = 1, devices_per_host = 8 },

  plan = function(p, job)
    job:workers {
      devices = 1,
      command = { "python3", p.script, job.args },
      env     = { HCCL_CONNECT_TIMEOUT = 600, GLOG_v = 2 },
      restart = { max = p.restarts, within = "1h" },
      limits  = { silent = "30m" },
    }
  end,
}
