-- TensorFlow on 2 hosts: a chief and worker 0 on the first, worker 1 and a parameter server on the second.
local muster = require "muster"

return muster.recipe {
  name      = "conformance-f",
  framework = { "tensorflow", port = 2222 },
  cluster   = { hosts = 2 },
  plan = function(p, job)
    job:role "chief" { as = "chief", on_hosts = 0, command = { "train" } }
    job:workers { count = 2, command = { "train" } }
    job:servers { count = 1, on_hosts = 1, command = { "train" } }
    job:role "evaluator" { as = "evaluator", command = { "evaluate" } }
  end,
}
