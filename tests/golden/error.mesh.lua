local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    local mesh = job:mesh { { "pp", 2 }, { "tp", 4 } }
    job:check(mesh:coords(3).tp == 3, "not reached")
    local at = mesh:coords(8)
  end,
}
