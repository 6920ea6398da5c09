-- args: --devices free
local muster = require "muster"
return muster.recipe {
  name = "unused",
  plan = function(p, job)
    job:workers { count = 1, devices = 0, command = { "train" } }
  end,
}
