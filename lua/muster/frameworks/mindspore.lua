-- MindSpore's dynamic cluster (2.0 and later; documentation "Dynamic Cluster Startup"): one scheduler process
-- that runs the same script, workers that register with it. Ranks are ours: a node id that is a number is the
-- rank. The variables equal those of msrun; LOCAL_RANK and LOCAL_RANK_SIZE are added, because MindSpore reads
-- them before init().
local mindspore = part "mindspore"
local restarts = part "restarts"

return contract {
  name = "mindspore",
  doc = "MindSpore dynamic cluster: a scheduler and numbered workers.",
  source = 'MindSpore, documentation "Dynamic Cluster Startup"; msrun 2.7',
  notes = {
    "The scheduler runs the workers' script: `init()` waits there until all have left. With `recovery = \"on\"` a worker that is started again registers under its old number; without it the scheduler refuses it.",
  },
  example = 'framework = "mindspore"',
  roles = {
    scheduler = { min = 1, max = 1, add = "worker", done = "never", linger = 35, doc = "builds the cluster" },
    worker = { min = 1, doc = "trains" },
  },
  ends = "when all workers have ended; the scheduler then leaves by itself",
  derives = "`device_num` is the number of workers, `global_rank` the rank, `device_id` the number of the device among those that the process can see",
  meeting = { role = "scheduler", port = "scheduler", avoid = mindspore.own_ports },
  clear = mindspore.clear,
  absent = mindspore.absent,
  options = { recovery = { "off", "on", doc = "whether a process that is started again may register again" } },
  variables = {
    { "MS_ROLE", "all", "`MS_SCHED` or `MS_WORKER`" },
    { "MS_SCHED_HOST", "all", "address of the scheduler's host, never a name: MindSpore refuses names" },
    { "MS_SCHED_PORT", "all", "the scheduler's port" },
    { "MS_WORKER_NUM", "all", "number of workers" },
    { "MS_TOPO_TIMEOUT", "all", "600, as msrun has it: seconds in which all have to register" },
    { "RANK_SIZE", "all", "number of workers" },
    { "RANK_ID", "all", "rank; 0 for the scheduler" },
    { "MS_NODE_ID", "worker", "rank: a node id that is a number is the rank. The scheduler is `sched` with `recovery = \"on\"`" },
    { "MS_NODE_RANK", "worker", "number of the host" },
    { "DEVICE_ID", "worker", "number of the device among those that the process can see, or the local rank" },
    { "LOCAL_RANK", "worker", "rank on its host, which MindSpore asks for before `init()` and msrun does not set" },
    { "LOCAL_RANK_SIZE", "worker", "workers on its host" },
    { "MS_ENABLE_RECOVERY", "all", "1 with `recovery = \"on\"`" },
    { "MS_RECOVERY_PATH", "all", "a folder of the run directory, with `recovery = \"on\"`" },
  },
  context = true,
  check = function(job)
    if job.option.recovery == "on" then return end
    restarts.at_least("role", job, function(role)
      return role.plays ~= "other" and ("the scheduler refuses a %s that registers again"):format(role.plays)
    end, 'framework = { "mindspore", recovery = "on" }, or scope = "job", which starts all of them again')
  end,
  common = function(role, job)
    local env = {
      MS_WORKER_NUM = job.count.worker, MS_SCHED_HOST = job.meeting.address, MS_SCHED_PORT = job.meeting.port,
      MS_TOPO_TIMEOUT = 600, RANK_SIZE = job.count.worker,
      MS_ROLE = role.plays == "scheduler" and "MS_SCHED" or "MS_WORKER",
    }
    local recovery = job.option.recovery == "on"
    if recovery then env.MS_ENABLE_RECOVERY, env.MS_RECOVERY_PATH = 1, job.run_dir .. "/recovery" end
    if role.plays == "scheduler" then env.RANK_ID, env.MS_NODE_ID = 0, recovery and "sched" or nil end
    return env
  end,
  env = function(process)
    if process.role ~= "worker" then return nil end
    return {
      MS_NODE_ID = process.rank, RANK_ID = process.rank,
      DEVICE_ID = process.device_index or process.local_rank,  -- among the devices it can see
      MS_NODE_RANK = process.host.index,
      LOCAL_RANK = process.local_rank, LOCAL_RANK_SIZE = process.local_size,
    }
  end,
}
