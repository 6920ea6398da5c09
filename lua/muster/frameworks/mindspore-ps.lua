-- MindSpore's parameter-server mode (1.0 to 2.6; documentation "Parameter Server Mode"): one scheduler, servers
-- that hold the weights, workers. Node ids are unique over all roles, so they are words and not numbers, padded
-- with zeros: the scheduler sorts them as strings, and rank order must be string order.
return contract {
  name = "mindspore-ps",
  doc = "MindSpore parameter servers: a scheduler, servers and workers.",
  roles = {
    scheduler = { min = 1, max = 1, add = "worker", done = "never", linger = 35 },
    server = { min = 1, done = "never", linger = 35 },
    worker = { min = 1 },
  },
  meeting = { role = "scheduler", port = "scheduler" },
  clear = { "OMPI_*", "PMIX_*", "MS_ROLE", "MS_WORKER_NUM", "MS_SERVER_NUM", "MS_SCHED_*", "MS_NODE_ID", "MS_NODE_RANK",
            "MS_WORKER_IP", "MS_DISABLE_HEARTBEAT", "MS_SIMULATION_LEVEL", "RANK_TABLE_FILE",
            "MINDSPORE_HCCL_CONFIG_PATH", "RANK_ID", "RANK_SIZE", "DEVICE_ID", "LOCAL_RANK", "LOCAL_RANK_SIZE" },
  context = true,
  env = function(process, job)
    local function node_id(role, count)
      local width = math.max(2, #tostring(count - 1))
      return ("%s_%0" .. width .. "d"):format(role, process.index)
    end
    local env = {
      MS_WORKER_NUM = job.count.worker, MS_SERVER_NUM = job.count.server,
      MS_SCHED_HOST = job.meeting.address, MS_SCHED_PORT = job.meeting.port,
      -- Enabling the mode overwrites the attribute with what this variable says (context API, set_ps_context).
      MS_SCHED_MANAGE_PORT = job.setting("set_ps_context", "scheduler_manage_port"),
    }
    if process.role == "scheduler" then
      env.MS_ROLE, env.MS_NODE_ID = "MS_SCHED", "sched"
    elseif process.role == "server" then
      env.MS_ROLE, env.MS_NODE_ID = "MS_PSERVER", node_id("server", job.count.server)
    else
      env.MS_ROLE, env.MS_NODE_ID = "MS_WORKER", node_id("worker", job.count.worker)
      env.RANK_ID, env.RANK_SIZE = process.rank, process.world_size
      env.LOCAL_RANK, env.LOCAL_RANK_SIZE = process.local_rank, process.local_size
    end
    return env
  end,
}
