local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers {
      count = 64, command = { "train" },
      each = function(process) job:check(false, "the data set is not divided") end,
    }
  end,
}
