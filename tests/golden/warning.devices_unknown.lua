-- args: --devices 0-1
local muster = require "muster"
return muster.recipe {
  name = "unknown",
  plan = function(p, job)
    job:workers { command = { "train" } }
  end,
}
