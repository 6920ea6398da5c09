local muster = require "muster"

return muster.recipe {
  name = "case",
  framework = "mindspore-ps",
  plan = function(p, job)
    job:workers { count = 2, command = { "train" } }
  end,
}
