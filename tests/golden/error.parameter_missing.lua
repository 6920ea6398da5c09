local muster = require "muster"

return muster.recipe {
  name = "case",
  params = {
    dataset = muster.path { doc = "where the training data is" },
    token = muster.secret {},
  },
  plan = function(p, job)
    job:workers { count = 2, command = { "train" } }
  end,
}
