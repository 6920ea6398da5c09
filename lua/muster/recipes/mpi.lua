-- @mpi: an MPI program without a recipe. mpirun starts the ranks and muster supervises mpirun (muster docs mpi).
--
--   muster run @mpi workers=4 -- ./my_program
--   muster run @mpi workers=4 start=srun -- ./my_program     in an allocation of Slurm, whose nodes need no ssh then
local muster = require "muster"

return muster.recipe {
  name      = "mpi",
  doc       = "An MPI program, given after --, whose ranks mpirun or srun starts",
  framework = { "mpi", start = function(p) return p.start end },

  params = {
    workers = muster.int { 1, min = 1, doc = "ranks" },
    start   = muster.enum { "mpirun", one_of = { "mpirun", "srun", "variables" }, doc = "what starts the ranks: mpirun needs ssh between hosts, srun an allocation of Slurm with PMIx" },
    env     = muster.map { {}, doc = "further variables of all processes, as --env NAME=VALUE gives them" },
  },

  plan = function(p, job)
    job:env(p.env)
    job:check(#job.args > 0, "there is nothing to run: write the command after --, as in: muster run @mpi workers=4 -- ./my_program")
    job:workers { count = p.workers, command = #job.args > 0 and job.args or { "true" } }
  end,
}
