local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  mindspore = "1.6",
  plan = function(p, job)
    job:workers {
      count = 4, command = { "train" },
      each = function(process) process:context { parallel_mode = "data_parallel" } end,
    }
  end,
}
