-- args: num_workers=3
local muster = require "muster"

return muster.recipe {
  name = "case",
  params = { workers = muster.int { 2, was = "num_workers" } },
  plan = function(p, job)
    job:workers { count = p.workers, command = { "train" } }
  end,
}
