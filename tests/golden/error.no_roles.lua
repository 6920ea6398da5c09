local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    local unused = p
  end,
}
