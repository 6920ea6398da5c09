-- expect: format
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:role "../../x" { command = { "true" } }
  end,
}
