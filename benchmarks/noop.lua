-- As many Pythons as wanted that do nothing, with PyTorch's variables: what the benchmark beside torchrun starts.
local muster = require "muster"

return muster.recipe {
  name      = "noop",
  framework = "torch",
  params = { workers = muster.int { 4, min = 1 }, script = muster.path { "noop.py" } },
  plan = function(p, job)
    job:workers { count = p.workers, command = { "/usr/bin/python3", p.script } }
  end,
}
