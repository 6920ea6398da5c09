local muster = require "muster"
return muster.recipe {
  name = "train", doc = "a small run whose directory is kept for later versions",
  params = { lr = muster.float { 0.1, above = 0, doc = "learning rate" } },
  plan = function(p, job)
    job:workers { count = 1, devices = 0,
      command = { "sh", "-c", [[echo "{\"loss\":$(echo "$1" | awk '{ print ($1 - 0.3) ^ 2 }')}" >> $MUSTER_METRICS]], "sh", p.lr } }
  end,
}
