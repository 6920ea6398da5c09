-- One worker on each host: for benchmarks/hosts.cc.
local muster = require "muster"
return muster.recipe {
  name = "hosts",
  framework = "none",
  params = {
    program = muster.string { doc = "what a worker does after --true, --sleep, or --term and --fail" },
    part = muster.enum { "true", one_of = { "true", "sleep", "stop" }, doc = "end at once, wait for ever, or one of them fails" },
  },
  cluster = { hosts = 2, devices_per_host = 0 },
  plan = function(p, job)
    local workers = job.cluster.hosts
    if p.part == "stop" then
      job:workers { count = workers - 1, cwd = "/", command = { p.program, "--term" }, ready = { line = "waiting" } }
      job:role "failing" { cwd = "/", command = { p.program, "--fail" }, after = "worker" }
    else
      job:workers { count = workers, cwd = "/", command = { p.program, "--" .. p.part } }
    end
  end,
}
