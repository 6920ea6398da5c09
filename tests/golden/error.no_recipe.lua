local muster = require "muster"

muster.recipe {
  name = "case",
  plan = function(p, job) job:workers { command = { "train" } } end,
}
