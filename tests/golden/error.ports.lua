local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:port("rpc", { number = 70000 })
  end,
}
