-- BytePS: ps-lite between hosts, one process per device within a host. For ps-lite each host is one worker:
-- DMLC_NUM_WORKER is the number of hosts and DMLC_WORKER_ID the number of the host, as set by bpslaunch. Scheduler and
-- servers run BytePS's server module and no script of the user.
local dmlc = part "dmlc"
local restarts = part "restarts"
local SERVER = { "python3", "-c", "import byteps.server" }

local variables = { unpack(dmlc.variables) }
variables[#variables + 1] = { "DMLC_NUM_WORKER", "all", "number of hosts that have workers", is = "worker_hosts" }
variables[#variables + 1] = { "DMLC_WORKER_ID", "worker", "number of its host among those that have workers" }
variables[#variables + 1] = { "BYTEPS_LOCAL_RANK", "worker", "rank on its host", is = "local_rank" }
variables[#variables + 1] = { "BYTEPS_LOCAL_SIZE", "worker", "workers on its host", is = "local_size" }
variables[#variables + 1] = { "BYTEPS_FORCE_DISTRIBUTED", "worker", "1 where one host has all workers, which would else ignore the servers" }

return contract {
  name = "byteps",
  doc = "BytePS: a scheduler, servers, and one worker per device of each host.",
  source = "bytedance/byteps, environment variables (env.md) and launcher/launch.py",
  notes = {
    "muster starts the workers of each host itself, without bpslaunch. Every host needs the same number of workers.",
    dmlc.inherited,
  },
  example = 'framework = "byteps"',
  roles = {
    scheduler = { min = 1, max = 1, add = "worker", command = SERVER, done = "never", linger = "35s", doc = "runs `import byteps.server`" },
    server = { min = 1, command = SERVER, done = "never", linger = "35s", doc = "runs `import byteps.server` unless it has a command" },
    worker = { min = 1, doc = "trains" },
  },
  ends = "when all workers have exited; scheduler and servers then exit or are stopped",
  meeting = { role = "scheduler", port = "scheduler" },
  clear = dmlc.clear,
  variables = variables,
  check = function(job)
    restarts.at_least("job", job, function(role) return role.plays ~= "other" and "BytePS does not readmit processes" end, restarts.all)
  end,
  prepare = function(job)
    for _, role in ipairs(job.roles) do
      if role.plays == "worker" then
        for _, placed in ipairs(role.placed) do
          if placed.local_size ~= job.worlds[role.world].most_local then
            host.report("error", "roles", role.place,
                        ("role %s: BytePS requires as many workers on every host, but there are %d on one and %d on another"):format(
                          role.name, placed.local_size, job.worlds[role.world].most_local))
            return nil
          end
        end
      end
    end
    return dmlc.interfaces(job)
  end,
  defaults = dmlc.defaults,
  common = function(role, job)
    local env = dmlc.common(role, job)
    local hosts = #job.worlds[job.first_world].host_order
    env.DMLC_NUM_WORKER = hosts
    if role.plays == "worker" and hosts == 1 then env.BYTEPS_FORCE_DISTRIBUTED = 1 end
    return env
  end,
  env = function(process, job)
    local env = { DMLC_NODE_HOST = dmlc.node_host(process, job) }
    if process.role == "worker" then
      env.DMLC_WORKER_ID = job.worlds[process.world].node[process.host.index]
      env.BYTEPS_LOCAL_RANK, env.BYTEPS_LOCAL_SIZE = process.local_rank, process.local_size
    end
    return env
  end,
}
