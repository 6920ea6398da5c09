local muster = require "muster"

return muster.recipe {
  name = "case",
  framework = "mindsproe",
  plan = function(p, job)
    job:workers { count = 2, command = { "train" } }
  end,
}
