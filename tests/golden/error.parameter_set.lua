local muster = require "muster"

return muster.recipe {
  name = "case",
  params = {
    workers = muster.int { 4, min = 1, max = 64, doc = "worker processes" },
    lr = muster.float { 0.5, above = 0, below = 1 },
    optimizer = muster.enum { "adam", one_of = { "adam", "sgd", "lamb" } },
    memory = muster.bytes { "30GiB", min = "1GiB" },
    patience = muster.duration { "10m", max = "2h" },
    sizes = muster.list { { 256, 512 } },
    resume = muster.bool { false },
  },
  plan = function(p, job)
    p.workers = 8
    job:workers { count = 2, command = { "train" } }
  end,
}
