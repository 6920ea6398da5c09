-- Reinforcement learning in one job: trainers, rollouts and a judge. Each role is a world with its own ranks and
-- rendezvous endpoint, so it calls init_process_group as if it were alone; all of them reach a common store.
--
--   muster plan recipes/mixed_roles.lua trainers=4 rollouts=8
local muster = require "muster"

return muster.recipe {
  name      = "mixed-roles",
  doc       = "Trainers, rollouts and a judge, each with ranks of their own",
  framework = "torch",

  params = {
    trainers = muster.int { 4, min = 1, doc = "processes that train, on the first host" },
    rollouts = muster.int { 4, min = 1, doc = "processes that play, on the second host" },
  },

  cluster = { hosts = 2, devices_per_host = 4 },

  plan = function(p, job)
    job:env { STORE = job:address "store" }
    job:role "store"   { on_hosts = 0, ports = "rpc", ready = { port = "rpc" }, done = "never",
                         command = { "python3", "store.py", "--listen", job:address "store" } }
    job:role "trainer" { as = "worker", world = "trainer", count = p.trainers, devices = 1, on_hosts = 0, after = "store",
                         command = { "python3", "train.py" } }
    job:role "rollout" { as = "worker", world = "rollout", count = p.rollouts, devices = 1, on_hosts = 1, after = "store",
                         command = { "python3", "play.py" }, done = "never" }
    job:role "judge"   { as = "worker", world = "judge", count = 1, on_hosts = 1, after = "store",
                         command = { "python3", "judge.py" }, done = "never" }
  end,
}
