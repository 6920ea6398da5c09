-- args: token=hunter2
local muster = require "muster"

return muster.recipe {
  name = "case",
  params = { token = muster.secret { from_env = "TOKEN" } },
  plan = function(p, job)
    job:workers { count = 2, command = { "train" } }
  end,
}
