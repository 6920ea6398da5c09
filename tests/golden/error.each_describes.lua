local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers {
      count = 2, command = { "train" },
      each = function(process) job:env { RANK = process.rank } end,
    }
  end,
}
