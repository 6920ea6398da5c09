-- Where processes of other roles listen: of a single process, of one of several, of one port among several, and the host alone.
-- Two roles hold each other's address, and a role is described after what asks for it.
local muster = require "muster"

return muster.recipe {
  name    = "case",
  cluster = { hosts = 2, devices_per_host = 1 },
  plan = function(p, job)
    local data = job:address("data", { index = 1 })
    job:role "store" { on_hosts = 1, ports = { "rpc", "status" }, command = { "store", "--data", data }, done = "never" }
    job:role "data" { count = 2, ports = "rpc", command = { "data", "--store", job:address("store", { port = "rpc" }) } }
    job:workers {
      count = 1,
      command = { "train", job:file { "conf.yaml", yaml = { data = data } } },
      env = {
        STORE_STATUS = "http://" .. job:address("store", { port = "status" }) .. "/ready",
        STORE_HOST   = job:address("store", { part = "host" }),
        STORE_PORT   = job:address("store", { port = "rpc", part = "port" }),
      },
      each = function(process) process.env.DATA = data end,
    }
  end,
}
