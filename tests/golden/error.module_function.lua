local muster = require "muster"
local schedule = require "lib.schedule"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { command = { "train", "--schedule", schedule.warmup(-5) } }
  end,
}
