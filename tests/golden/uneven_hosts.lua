-- Three hosts by name, of which the last has half as many devices: ranks go on from host to host, local sizes differ.
local muster  = require "muster"
local context = require "muster.context"

return muster.recipe {
  name      = "uneven-hosts",
  framework = "mindspore",
  mindspore = "2.3",
  cluster   = { host_list = { "n[01-02]:4", "login:2" } },
  plan = function(p, job)
    context.set_context { mode = context.GRAPH_MODE, device_target = "Ascend" }
    job:workers { command = { "python3", "train.py" } }
    job:role "log" { on_hosts = 2, command = { "collect", "--hosts", job.cluster.hosts } }
  end,
}
