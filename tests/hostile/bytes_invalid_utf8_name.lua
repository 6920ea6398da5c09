-- expect: format|text
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "\255",
  plan = function(p, job)
    job:workers { count = 1, command = { "true" } }
  end,
}
