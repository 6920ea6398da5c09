-- What this starts, as a recipe:
--
--   mpirun -np 4 -x A=1 -x B --bind-to none --mca btl self,tcp -wdir /tmp ./solve in.dat
--
--   muster plan solve.lua    every process it would start
--   muster run solve.lua     starts them
--
-- Nothing follows from these:
--   -x B: processes inherit the environment
local muster = require "muster"

return muster.recipe {
  name      = "solve",
  framework = { "mpi", args = { "--bind-to", "none", "--mca", "btl", "self,tcp" } },

  params = {
    workers = muster.int { 4, min = 1, doc = "processes in all" },
  },

  plan = function(p, job)
    job:workers {
      count   = p.workers,
      command = { "./solve", "in.dat", job.args },
      cwd     = "/tmp",
      env     = { A = "1", override = true },
    }
  end,
}
