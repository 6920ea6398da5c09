-- One mpirun per world: its ranks are its children, so the plan has a process for each launcher only.
local muster = require "muster"

return muster.recipe {
  name      = "mpi-launchers",
  framework = { "mpi", args = { "--bind-to", "none" } },
  cluster   = { hosts = 2, devices_per_host = 4 },
  plan = function(p, job)
    job:env { DATA = "/data", UNWANTED = muster.unset }
    job:workers { count = 6, devices = 1, command = { "solve", "--steps", 10 }, env = { OMP_NUM_THREADS = 1 }, wrap = { "nice" } }
    job:role "watch" { as = "worker", world = "watch", on_hosts = 0, command = { "watch" } }
    job:role "store" { command = { "store" } }
  end,
}
