-- args: --profile smoke rate=0.25 --pin twice=6
-- An extension of a recipe in another folder, with a profile of both, a pinned value and a file that YAML 1.1 reads
-- differently.
local muster = require "muster"

return muster.load("lib/base_recipe.lua"):extend {
  name = "extension",
  params = { layers = 8, data = { cache = muster.bytes { "1GiB" } } },
  profiles = { smoke = { data = { path = "/small" } } },
  plan = function(p, job, base)
    base(p, job)
    job:env { WHO = "extension" }
  end,
}
