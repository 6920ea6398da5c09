local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { command = { "train", muster.size(2 ^ 30, "gigs") } }
  end,
}
