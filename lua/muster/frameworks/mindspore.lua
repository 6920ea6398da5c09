-- MindSpore's dynamic cluster (documentation "Dynamic Cluster Startup"): one scheduler process that runs the same
-- script, workers that register with it. muster assigns the ranks: a node id that is a number is the rank. The
-- variables equal those of msrun; LOCAL_RANK and LOCAL_RANK_SIZE are added, because MindSpore reads them before
-- init().
local mindspore = part "mindspore"
local restarts = part "restarts"
local starts = part "starts"

-- The role whose processes can be restarted while the cluster keeps running, so that they have to register again.
local function comes_back(job)
  for _, role in ipairs(job.roles) do
    if role.plays ~= "other" and role.restart and role.restart.max ~= 0 and role.restart.scope ~= "job" then return role end
  end
end

-- recovery_context.cc was added in MindSpore 1.8.
local function has_recovery(job) return not (job.before and job.before("1.8")) end

local function recovers(job)
  if job.option.recovery == "auto" then return comes_back(job) ~= nil and has_recovery(job) end
  return job.option.recovery == "on"
end

-- Warns of the costs of recovery, if the recipe names the release: Model.train requires the mode (train/model.py of 2.0
-- to 2.5, _check_enable_recovery), and off CPU graphs run without pipelining (graph_scheduler.cc).
local function warn_of_recovery(job)
  if not job.release or job.before "2.0" then return end
  local role, target, costs = comes_back(job), job.in_force("set_context", "device_target"), {}
  local by_itself = job.option.recovery == "auto"
  if job.before "2.6" and job.in_force("set_context", "mode") == 1 then
    costs[1] = "Model.train with dataset_sink_mode=True then fails in PYNATIVE_MODE"
  end
  if by_itself and target and target ~= "CPU" then costs[#costs + 1] = "graphs on " .. target .. " then run without pipelining" end
  if #costs == 0 then return end
  host.report("warning", "restart", role and role.place or job.place,
              ("MS_ENABLE_RECOVERY=1 is set, because %s: in MindSpore %s %s"):format(
                by_itself and "processes of role " .. role.name .. " may be started again" or 'recovery = "on"', job.release,
                table.concat(costs, ", and ")),
              by_itself and 'scope = "job" starts all of them again without it; framework = { "mindspore", recovery = "on" } confirms it'
              or 'mode = context.GRAPH_MODE, or leave recovery = "on" out')
end

return contract {
  name = "mindspore",
  doc = "MindSpore dynamic cluster: a scheduler and ranked workers.",
  source = 'MindSpore, documentation "Dynamic Cluster Startup"; msrun 2.3 to 2.7',
  notes = {
    "The scheduler runs the workers' script: in it, `init()` waits until all workers have exited. With MindSpore's recovery, a worker that is restarted registers with its previous rank; without, the scheduler refuses it. `auto` switches recovery on if a role has a `restart` with a scope below `job`, from MindSpore 1.8 on; without a restart the variables are those of msrun, which never sets it. In 2.0 to 2.5 recovery makes `Model.train(dataset_sink_mode=True)` fail in PYNATIVE_MODE, and off CPU graphs run without pipelining: `muster check` warns of both.",
    starts.told "mindspore",
  },
  example = 'framework = "mindspore"',
  roles = {
    scheduler = { min = 1, max = 1, add = "worker", done = "never", linger = "35s", doc = "forms the cluster" },
    worker = { min = 1, doc = "trains" },
  },
  ends = "when all workers have exited; the scheduler then exits by itself",
  derives = "`device_num` is the number of workers, `global_rank` the rank, `device_id` the number of the device among the visible ones",
  meeting = { role = "scheduler", port = "scheduler", avoid = mindspore.own_ports },
  clear = mindspore.clear,
  absent = mindspore.absent,
  options = { recovery = { "auto", "on", "off", doc = "whether restarted processes can register again; auto: if a role has a restart" } },
  variables = {
    { "MS_ROLE", "all", "`MS_SCHED` or `MS_WORKER`", is = "role", words = mindspore.roles },
    { "MS_SCHED_HOST", "all", "address of the scheduler's host, never a name: MindSpore refuses names", is = "address" },
    { "MS_SCHED_PORT", "all", "the scheduler's port", is = "port" },
    { "MS_WORKER_NUM", "all", "number of workers", is = "count", of = "worker" },
    { "MS_TOPO_TIMEOUT", "all", "seconds in which all processes have to register; default 600, as with msrun; an inherited or the recipe's value overrides it" },
    { "RANK_SIZE", "all", "number of workers", is = "count", of = "worker" },
    { "RANK_ID", "worker", "rank", is = "rank" },
    { "RANK_ID", "scheduler", "0" },
    { "MS_NODE_ID", "worker", "rank: a node id that is a number is the rank. The scheduler is `sched` with recovery", is = "rank" },
    { "MS_NODE_RANK", "worker", "number of the host, from MindSpore 2.7 on, and where the recipe names no release" },
    { "DEVICE_ID", "worker", "number of the device among the visible ones, or the local rank" },
    { "LOCAL_RANK", "worker", "rank on its host, which MindSpore reads before `init()` and msrun does not set", is = "local_rank" },
    { "LOCAL_RANK_SIZE", "worker", "workers on its host", is = "local_size" },
    { "MS_ENABLE_RECOVERY", "all", "1 with recovery" },
    { "MS_RECOVERY_PATH", "all", "a folder of the run directory, with recovery" },
  },
  context = true,
  check = function(job)
    starts.check(job, "mindspore")
    if job.option.recovery == "on" and not has_recovery(job) then
      host.report("error", "contract_start", job.place, ('recovery = "on": MindSpore %s has no recovery'):format(job.release), 'mindspore = "1.9" or later')
    elseif recovers(job) then
      return warn_of_recovery(job)
    end
    restarts.at_least("job", job, function(role)
      return role.plays ~= "other" and ("the scheduler refuses a %s that registers again"):format(role.plays)
    end, has_recovery(job) and 'framework = { "mindspore", recovery = "on" }, or scope = "job", which starts all of them again' or restarts.all)
  end,
  defaults = function(role) return role.plays ~= "other" and { MS_TOPO_TIMEOUT = 600 } or nil end,
  common = function(role, job)
    local env = {
      MS_WORKER_NUM = job.count.worker, MS_SCHED_HOST = job.meeting.address, MS_SCHED_PORT = job.meeting.port,
      RANK_SIZE = job.count.worker,
      MS_ROLE = mindspore.roles[role.plays],
    }
    local recovery = recovers(job)
    if recovery then env.MS_ENABLE_RECOVERY, env.MS_RECOVERY_PATH = 1, job.run_dir .. "/recovery" end
    if role.plays == "scheduler" then env.RANK_ID, env.MS_NODE_ID = 0, recovery and "sched" or nil end
    return env
  end,
  env = function(process, job)
    if process.role ~= "worker" then return nil end
    -- msrun exports the host's number from 2.7 on.
    local before_27 = job.release and job.before "2.7"
    return {
      MS_NODE_ID = process.rank, RANK_ID = process.rank,
      DEVICE_ID = process.device_index or process.local_rank,  -- its number among the devices that the process can see
      MS_NODE_RANK = not before_27 and process.host.index or nil,
      LOCAL_RANK = process.local_rank, LOCAL_RANK_SIZE = process.local_size,
    }
  end,
}
