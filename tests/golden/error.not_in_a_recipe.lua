local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { count = 1, command = { "train", "--data", os.getenv("DATA") } }
  end,
}
