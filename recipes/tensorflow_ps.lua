-- TensorFlow's ParameterServerStrategy: the chief coordinates and the job ends with it; workers and parameter servers
-- only serve. An evaluator looks at the checkpoints.
--
--   muster plan recipes/tensorflow_ps.lua workers=4 servers=2
local muster = require "muster"

return muster.recipe {
  name      = "tensorflow-ps",
  doc       = "A TensorFlow script with parameter servers, a chief and an evaluator",
  framework = "tensorflow",

  params = {
    workers  = muster.int  { 2, min = 1, doc = "worker processes" },
    servers  = muster.int  { 1, min = 1, doc = "parameter servers" },
    evaluate = muster.bool { true, doc = "whether an evaluator runs beside" },
    script   = muster.path { "train.py", doc = "the training script" },
  },

  plan = function(p, job)
    local command = { "python3", p.script }
    job:role "chief" { as = "chief", command = command, after = { "worker", "server" } }
    job:workers { count = p.workers, command = command, ready = { port = "grpc" } }
    job:servers { count = p.servers, command = command, ready = { port = "grpc" } }
    if p.evaluate then job:role "evaluator" { as = "evaluator", command = command } end
  end,
}
