local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:role "store" { ports = { "rpc", "status" }, command = { "store" } }
    job:role "data" { count = 2, ports = "rpc", command = { "data" } }
    job:role "plain" { command = { "plain" } }
    job:env { A = job:address "data" }
    job:env { B = job:address("data", { index = 2 }) }
    job:env { C = job:address "store" }
    job:env { D = job:address("store", { port = "stats" }) }
    job:env { E = job:address "plain" }
  end,
}
