local muster = require "muster"

return muster.recipe {
  name = "case",
  params = {
    a = muster.int { 4, minimum = 1 },
    b = muster.int { "four" },
    c = muster.int { 9, max = 8 },
    d = muster.enum { "adam" },
    e = muster.string { "x", min = 1 },
    f = muster.secret { "hunter2" },
    g = 4,
    h = muster.int { 1, min = 5, max = 2 },
    ["learning-rate"] = muster.float { 0.1 },
  },
  plan = function(p, job)
    job:workers { count = 2, command = { "train" } }
  end,
}
