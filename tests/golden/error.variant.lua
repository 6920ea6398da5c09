-- args: optimizer=sgd beta=0.5 size=3 optimizer.lrr=1 opt.lr=2
-- Parameters of variants that are not chosen, names that could mean several parameters, and names that are misspelt.
local muster = require "muster"

return muster.recipe {
  name = "variant",
  params = {
    optimizer = muster.variant { "adam", one_of = {
      adam = { lr = muster.float { 1e-3 }, beta = muster.float { 0.9 } },
      sgd  = { lr = muster.float { 0.1 } },
    } },
    batch = { size = muster.int { 8 } },
    cache = { size = muster.int { 8 } },
  },
  plan = function(p, job)
    job:workers { count = 1, command = { "true" } }
  end,
}
