local muster = require "muster"

return muster.recipe {
  name = "case",
  cluster = { hosts = 2, devices_per_host = 1 },
  plan = function(p, job)
    job:role "a" { on_hosts = "n1", command = { "a" } }
    job:role "b" { on_hosts = { 2 }, command = { "b" } }
    job:role "c" { on_host = 0, command = { "c" } }
    job:role "d" { on_hosts = 0, hosts = 0, command = { "d" } }
  end,
}
