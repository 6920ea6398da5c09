-- ps-lite (MXNet's key-value store and others), as its tracker launches it. The scheduler assigns the ranks, and no
-- variable fixes them; DMLC_TASK_ID is the tracker's number, for scripts that use one. ps-lite does not end a job in
-- which a process has died, so muster does.
local dmlc = part "dmlc"
local restarts = part "restarts"

local variables = { unpack(dmlc.variables) }
variables[#variables + 1] = { "DMLC_NUM_WORKER", "all", "number of workers", is = "count", of = "worker" }
variables[#variables + 1] = { "DMLC_TASK_ID", "server, worker", "the tracker's number: workers from 0 on, then servers; no rank, which the scheduler assigns" }
variables[#variables + 1] = { "DMLC_JOB_CLUSTER", "all", "`local`, as the tracker says it" }
variables[#variables + 1] = { "DMLC_NUM_ATTEMPT", "all", "how often it was started again" }

return contract {
  name = "ps-lite",
  doc = "ps-lite: a scheduler that assigns ranks, servers and workers.",
  source = "dmlc/ps-lite, environment variables (env.md) and src/van.cc; dmlc-core, tracker/dmlc_tracker",
  notes = {
    "The scheduler assigns ranks in the order in which processes register, and no variable fixes them: the plan has none, and `process.index` numbers the workers. With `PS_VERBOSE=1` every process logs its id (`W[9] is connected to others`), which `muster report` shows as its rank.",
    "If a process dies, all others wait for ever, with or without heartbeats: muster stops them. A single process cannot be restarted: the scheduler does not assign its rank again.",
    dmlc.inherited,
  },
  example = 'framework = "ps-lite"',
  roles = {
    scheduler = { min = 1, max = 1, add = "worker", done = "never", linger = "35s", doc = "assigns ranks; runs the workers' command" },
    server = { min = 1, done = "never", linger = "35s", doc = "holds the values" },
    worker = { min = 1, doc = "trains" },
  },
  ends = "when all workers have exited; scheduler and servers exit after a barrier with them",
  meeting = { role = "scheduler", port = "scheduler" },
  clear = dmlc.clear,
  variables = variables,
  arrange = function(job) job.ranks_of("worker", "ps-lite") end,
  prepare = dmlc.interfaces,
  defaults = dmlc.defaults,
  check = function(job)
    restarts.at_least("job", job, function(role) return role.plays ~= "other" and "ps-lite does not readmit processes" end, restarts.all)
  end,
  common = function(role, job)
    local env = dmlc.common(role, job)
    env.DMLC_NUM_WORKER, env.DMLC_JOB_CLUSTER, env.DMLC_NUM_ATTEMPT = job.count.worker, "local", job.attempt
    return env
  end,
  env = function(process, job)
    local number = process.role == "server" and job.count.worker + process.number or process.number
    return { DMLC_NODE_HOST = dmlc.node_host(process, job), DMLC_TASK_ID = process.role ~= "scheduler" and number or nil }
  end,
}
