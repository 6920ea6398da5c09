-- Extended by several cases; beside it lies what it reads.
local muster = require "muster"

return muster.recipe {
  name = "base",
  params = {
    layers = muster.int { 4, min = 1 },
    rate = muster.float { 0.5 },
    data = { path = muster.path { "/data" } },
  },
  cluster = { hosts = 2, devices_per_host = 2 },
  profiles = { smoke = { layers = 1, hosts = 1 } },
  plan = function(p, job)
    local defaults = muster.read_yaml "defaults.yaml"
    local d = job:derive { twice = p.layers * 2 }
    job:env { WHO = "base", SEED = defaults.seed }
    job:workers { command = { "train", muster.flags(p), job:file { "train.yaml", yaml = { params = p, defaults = defaults } } } }
    job:check(d.twice > 0, "never")
  end,
}
