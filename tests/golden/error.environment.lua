local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:env { PATH = "/opt/bin", DEBUG = true, [1] = "x", ["A=B"] = "1" }
    job:workers { command = { "train" }, env = { MUSTER_RANK = "0", GOOD = "1", NUL = "a\0b" } }
  end,
}
