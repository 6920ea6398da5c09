-- Parameter-server training: a scheduler, servers that hold the weights, workers that hold the data. The program reads
-- MindSpore's variables, so a MindSpore script can replace it without any other change.
--
--   muster run recipes/parameter_server.lua workers=8 servers=3
local muster  = require "muster"
local context = require "muster.context"
local mindspore = require "muster.mindspore"

return muster.recipe {
  name      = "parameter-server",
  doc       = "Softmax regression on handwritten digits, trained through parameter servers",
  framework = "mindspore-ps",
  mindspore = "2.7",

  params = {
    servers    = muster.int   { 2, min = 1, doc = "parameter-server processes" },
    workers    = muster.int   { 4, min = 1, doc = "worker processes" },
    epochs     = muster.int   { 20, min = 1, doc = "passes over the training data" },
    lr         = muster.float { 0.5, above = 0, doc = "learning rate" },
    batch_size = muster.int   { 64, min = 1, doc = "rows per step, over all workers" },
  },

  cluster = { hosts = 1, devices_per_host = 4 },

  plan = function(p, job)
    mindspore.set_device("CPU")
    context.set_context { mode = context.GRAPH_MODE }
    context.set_ps_context { enable_ps = true }

    job:check(p.batch_size >= p.workers, "batch_size = %d gives some of the %d workers nothing to do", p.batch_size, p.workers)

    -- All roles run the same program with the same arguments, as in MindSpore.
    local command = { "ps_digits", "--epochs", p.epochs, "--lr", p.lr, "--batch-size", p.batch_size }
    job:scheduler { command = command }
    job:servers   { count = p.servers, command = command }
    job:workers   { count = p.workers, command = command }
  end,
}
