-- args: hosts=2 devices_per_host=4
-- A mesh, every process with its own variables, words of the user's.
local muster = require "muster"
local schedule = require "lib.schedule"

return muster.recipe {
  name = "mesh",
  doc = "Two hosts, a mesh over their devices",
  params = { steps = muster.int { 100, min = 1 }, verbose = muster.bool { false } },
  cluster = { hosts = 1, devices_per_host = 2 },
  limits = { time = "1h30m" },
  plan = function(p, job)
    local mesh = job:mesh { { "pp", 2 }, { "tp", job.cluster.devices / 2 } }
    local config = job:file { "train.yaml", text = "steps: " .. p.steps .. "\nport: " .. job:port "status" .. "\n" }
    job:env { SCHEDULE = schedule.warmup(10), LD_PRELOAD = muster.unset }
    job:role "monitor" { command = { "monitor", job:port "status", "--config", config }, done = "never",
                         stop = { signal = "INT", grace = "3s" } }
    job:workers {
      count = job.cluster.devices, devices = 1,
      command = { "train", { "--steps", p.steps }, p.verbose and "--verbose", "--out", job.run_dir .. "/out" },
      env = { SPEED = 0.1, BIG = 2 ^ 53 },
      ports = { "rpc" },
      each = function(process)
        local at = mesh:coords(process.rank)
        process.env.STAGE, process.env.TENSOR = at.pp, at.tp
        process.env.LISTEN = process.host.address .. ":" .. process.ports.rpc
        if process.local_rank == 0 then process.command = { "train", "--leader" } end
      end,
    }
  end,
}
