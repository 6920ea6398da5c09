local muster = require "muster"

return muster.recipe {
  name = "case",
  mindspore = "1.7.9",
  plan = function(p, job)
    job:workers { count = 2, command = { "train" } }
  end,
}
