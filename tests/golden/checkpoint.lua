-- Patterns as fnmatch(3) reads them: a class, a bracket among the characters, one that is quoted.
local muster = require "muster"

return muster.recipe {
  name = "case",
  checkpoint = { dir = "checkpoints", latest = "epoch_[[:digit:]]*/[!]]*\\[*.pt", complete = "DONE", signal = "USR1", roles = { "trainer" } },
  plan = function(p, job)
    job:role "trainer" { command = { "train" } }
  end,
}
