-- args: workers=0
local muster = require "muster"

return muster.recipe {
  name = "case",
  params = { workers = muster.int { 2 } },
  plan = function(p, job)
    job:workers { count = p.workers, command = { "train" } }
  end,
}
