local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers {
      count = 2, command = { "train" },
      each = function(process) process.env = { A = "1" } end,
    }
  end,
}
