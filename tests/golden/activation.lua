-- What a host needs before the first process: its own lines in the plan, in the order in which they are done.
local muster = require "muster"

return muster.recipe {
  name = "activation",
  plan = function(p, job)
    job:activate { source = "/usr/local/Ascend/ascend-toolkit/set_env.sh", module = { "cuda/12", "gcc" } }
    job:activate { conda = "train env" }
    job:workers { count = 1, command = { "train" }, env = { LD_PRELOAD = muster.unset } }
  end,
}
