local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:role "store" { ports = "rpc", command = { "store" } }
    job:workers { count = 1, command = { "train", job:port "rpc" } }
  end,
}
