-- A number of Python processes that do nothing, with PyTorch's variables: the job of the benchmark against torchrun.
local muster = require "muster"

return muster.recipe {
  name      = "noop",
  framework = "torch",
  params = { workers = muster.int { 4, min = 1 }, script = muster.path { "noop.py" } },
  plan = function(p, job)
    job:workers { count = p.workers, command = { "/usr/bin/python3", p.script } }
  end,
}
