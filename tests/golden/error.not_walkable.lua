local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    local seen = { [print] = true }
    for key in pairs(seen) do error("not reached") end
  end,
}
