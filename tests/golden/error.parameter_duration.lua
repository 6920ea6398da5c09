-- args: patience=30 warmup:=5
local muster = require "muster"

return muster.recipe {
  name = "case",
  params = {
    patience = muster.duration { "10m", max = "2h" },
    warmup = muster.duration { 0 },
  },
  plan = function(p, job)
    job:workers { count = 2, command = { "train" } }
  end,
}
