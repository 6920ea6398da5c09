local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { count = 2, each = function(process) process.cwd = "/tmp" end }
  end,
}
