local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    local n = muster.exact_div { devices = "8", by = { stages = 2 } }
  end,
}
