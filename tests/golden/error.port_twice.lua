local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:port("rpc", { number = 7000 })
    job:port("rpc", { number = 7001 })
    job:port("status", { number = 7000 })
    job:workers { count = 2, command = { "train" } }
  end,
}
