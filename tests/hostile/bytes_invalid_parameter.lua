-- expect: parameter_value|parameter
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  params = { s = muster.string { "\255" }, t = muster.int { 1, doc = "\255" } },
  plan = function(p, job)
    job:workers { count = 1, command = { "true" } }
  end,
}
