-- Workers that sleep, and one process that fails once they all run: for benchmarks/stop.cc.
local muster = require "muster"
return muster.recipe {
  name = "stop",
  params = {
    count = muster.int { 256, min = 2, doc = "processes, the failing one included" },
    program = muster.string { doc = "writes the time and fails" },
  },
  plan = function(p, job)
    job:workers { count = p.count - 1, command = { "sleep", "1000" } }
    job:role "failing" { command = { p.program, "--fail" }, after = "worker" }
  end,
}
