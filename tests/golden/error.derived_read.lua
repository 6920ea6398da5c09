local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    local d = job:derive { layers_per_stage = 4 }
    job:workers { count = d.layer_per_stage, command = { "train" } }
  end,
}
