local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:file { "a.yaml", text = "one" }
    job:file { "a.yaml", text = "two" }
    job:file { "../outside", text = "x" }
  end,
}
