local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers {
      count = 3, command = { "train" },
      each = function(process)
        job:check(process.rank < 1, "rank %d of %d has nothing to do", process.rank, process.world_size)
        process.rnk = 1
      end,
    }
  end,
}
