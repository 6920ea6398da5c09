-- args: -- --resume last.ckpt
-- Roles of every kind and where they go by default.
local muster = require "muster"

return muster.recipe {
  name = "roles",
  cluster = { hosts = 3, devices_per_host = 2 },
  plan = function(p, job)
    job:scheduler { command = { "scheduler" } }
    job:servers { count = 4, command = { "server" } }
    job:workers { per_host = 2, command = { "worker", job.args }, cwd = "/data" }
    job:role "packed" { count = 2, spread = "pack", command = { "packed" }, on_hosts = { 2, 1 } }
    job:role "learner" { as = "worker", world = "learners", count = 3, command = muster.shell "exec learn > learn.log" }
  end,
}
