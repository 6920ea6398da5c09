local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers {
      count = -1, comand = { "train" }, command = { "train", nil, "--fast" }, devices = 1.5, spread = "wide",
      done = "some", cwd = {}, each = "no", ports = { "rpc", "a/b" }, stop = { signal = "TREM", grace = "soon" },
    }
    job:servers { count = 2, per_host = 1, command = { "serve", true, { "deep", print } } }
    job:role "log writer" { command = { "logger" } }
  end,
}
