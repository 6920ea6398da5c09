local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:activate { source = "set_env.sh" }
    job:activate { source = job:file { "env.sh", text = "export A=1" } }
    job:activate { module = { "cuda/12", "--force" }, conda = { "train" } }
    job:activate { modules = "cuda/12" }
    job:activate {}
    job:workers { command = { "train" } }
  end,
}
