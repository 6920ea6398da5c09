local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    local port = job:port "rpc"
    job:workers { command = { "train", port:sub(1, 9), "${muster:nothing}" } }
  end,
}
