local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { count = 1, command = { "train" } }
    job:port("rpc", { nubmer = 7000 })
    job:role("store", { comand = { "store" } })
    job:port("rpc", 7000)
  end,
}
