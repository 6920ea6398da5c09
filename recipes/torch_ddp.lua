-- PyTorch's DistributedDataParallel: any number of workers, with a rendezvous at the first of them. The example trains
-- on the CPU, so it needs nothing but PyTorch (Debian: python3-torch, which belongs to /usr/bin/python3).
--
--   muster run recipes/torch_ddp.lua workers=4
local muster = require "muster"

return muster.recipe {
  name      = "torch-ddp",
  doc       = "Softmax regression on handwritten digits, trained by PyTorch DDP over gloo",
  framework = "torch",

  params = {
    workers    = muster.int   { 2, min = 1, doc = "worker processes" },
    python     = muster.path  { "/usr/bin/python3", doc = "the Python that has PyTorch" },
    script     = muster.path  { "examples/torch_ddp.py", doc = "the training script" },
    epochs     = muster.int   { 5, min = 1, doc = "passes over the training data" },
    lr         = muster.float { 0.5, above = 0, doc = "learning rate" },
    batch_size = muster.int   { 64, min = 1, doc = "rows per step, over all workers" },
    fail_rank  = muster.int   { -1, min = -1, doc = "a rank that fails on purpose, to try the report" },
  },

  plan = function(p, job)
    job:check(p.batch_size >= p.workers, "batch_size = %d gives some of the %d workers nothing to do", p.batch_size, p.workers)
    job:check(p.fail_rank < p.workers, "fail_rank = %d is no rank of %d workers", p.fail_rank, p.workers)

    job:workers {
      count = p.workers,
      command = { p.python, p.script, "--epochs", p.epochs, "--lr", p.lr, "--batch-size", p.batch_size,
                  p.fail_rank >= 0 and { "--fail-rank", p.fail_rank } },
    }
  end,
}
