-- MindSpore's dynamic cluster (2.0 and later; documentation "Dynamic Cluster Startup"): one scheduler process
-- that runs the same script, workers that register with it. Ranks are ours: a node id that is a number is the
-- rank. The variables equal those of msrun; LOCAL_RANK and LOCAL_RANK_SIZE are added, because MindSpore reads
-- them before init().
return contract {
  name = "mindspore",
  doc = "MindSpore dynamic cluster: a scheduler and numbered workers.",
  roles = {
    scheduler = { min = 1, max = 1, add = "worker", done = "never", linger = 35 },
    worker = { min = 1 },
  },
  meeting = { role = "scheduler", port = "scheduler" },
  clear = { "OMPI_*", "PMIX_*", "MS_ROLE", "MS_WORKER_NUM", "MS_SERVER_NUM", "MS_SCHED_*", "MS_NODE_ID", "MS_NODE_RANK",
            "MS_WORKER_IP", "MS_DISABLE_HEARTBEAT", "MS_SIMULATION_LEVEL", "RANK_TABLE_FILE",
            "MINDSPORE_HCCL_CONFIG_PATH", "RANK_ID", "RANK_SIZE", "DEVICE_ID", "LOCAL_RANK", "LOCAL_RANK_SIZE" },
  context = true,
  env = function(process, job)
    local env = {
      MS_WORKER_NUM = job.count.worker, MS_SCHED_HOST = job.meeting.address, MS_SCHED_PORT = job.meeting.port,
      MS_TOPO_TIMEOUT = 600, RANK_SIZE = job.count.worker,
    }
    if process.role == "scheduler" then
      env.MS_ROLE, env.RANK_ID = "MS_SCHED", 0
    else
      env.MS_ROLE, env.MS_NODE_ID, env.RANK_ID = "MS_WORKER", process.rank, process.rank
      env.DEVICE_ID = process.device_index or process.local_rank  -- among the devices it can see
      env.MS_NODE_RANK = process.host.index
      env.LOCAL_RANK, env.LOCAL_RANK_SIZE = process.local_rank, process.local_size
    end
    return env
  end,
}
