local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  mindspore = "1.6",
  plan = function(p, job)
    context.set_contxt { mode = 0 }
    job:workers { count = 2, command = { "train" } }
  end,
}
