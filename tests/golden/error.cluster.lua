-- args: hosts=0 devices_per_host=many
local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { count = 2, command = { "train" } }
  end,
}
