local muster = require "muster"

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:role "logger" { as = "loger", world = "a b", on_hosts = { 3 }, command = "logger --all" }
    job:role "store" { command = {} }
    job:role "cache"
    job:workers { command = { "train", muster.shell "echo hi" } }
  end,
}
