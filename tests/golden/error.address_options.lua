local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:role "store" { ports = "rpc", command = { "store" } }
    job:env { A = job:address "stroe" }
    job:env { B = job:address("store", { part = "prot" }) }
    job:env { C = job:address("store", { index = "first" }) }
    job:env { D = job:address("store", { part = "host", port = "rpc" }) }
    job:env { E = job:address("store", { prot = "rpc" }) }
    job:derive { where = job:address "store" }
  end,
}
