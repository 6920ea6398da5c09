-- MindSpore's parameter-server mode (1.0 to 2.6; documentation "Parameter Server Mode"): one scheduler, servers
-- that hold the weights, workers. Node ids are unique over all roles, so they are words and not numbers, padded
-- with zeros: the scheduler sorts them as strings, and rank order must be string order. In the documentation's own,
-- minimal form nobody has an id, and the scheduler deals the ranks.
local RECOVERY = "only servers recover in MindSpore's parameter-server mode (documentation \"Parameter Server Mode\")"

-- A server that is started again finds its place by its id, and its state in the file that `recovery` names.
local function check_recovery(role, job)
  local path = job.setting("set_ps_context", "config_file_path")
  local config = job.setting_file("set_ps_context", "config_file_path")
  if job.option.form == "minimal" then
    host.report("error", "restart", role.place, ("role %s: a server can only be started again under its node id"):format(role.name),
                'leave form = "minimal" out')
  elseif not path or (config and not config.recovery) then
    host.report("error", "restart", role.place, ("role %s: a server that is started again needs recovery in config_file_path"):format(role.name),
                'context.set_ps_context { config_file_path = muster.file "ps.json" }, with { "recovery": { … } } in it')
  end
end

return contract {
  name = "mindspore-ps",
  doc = "MindSpore parameter servers: a scheduler, servers and workers.",
  roles = {
    scheduler = { min = 1, max = 1, add = "worker", done = "never", linger = 35 },
    server = { min = 1, done = "never", linger = 35 },
    worker = { min = 1 },
  },
  options = { form = { "named", "minimal" } },
  meeting = { role = "scheduler", port = "scheduler" },
  ports = { scheduler_manage = "scheduler" },
  clear = { "OMPI_*", "PMIX_*", "MS_ROLE", "MS_WORKER_NUM", "MS_SERVER_NUM", "MS_SCHED_*", "MS_NODE_ID", "MS_NODE_RANK",
            "MS_WORKER_IP", "MS_DISABLE_HEARTBEAT", "MS_SIMULATION_LEVEL", "RANK_TABLE_FILE",
            "MINDSPORE_HCCL_CONFIG_PATH", "RANK_ID", "RANK_SIZE", "DEVICE_ID", "LOCAL_RANK", "LOCAL_RANK_SIZE" },
  context = true,
  check = function(job)
    for _, role in ipairs(job.roles) do
      if role.restart and role.restart.scope == "process" then
        if role.plays == "worker" then
          host.report("error", "restart", role.place, ("role %s: a single worker cannot be started again: %s"):format(role.name, RECOVERY),
                      'scope = "job" starts all of them again')
        elseif role.plays == "server" then
          check_recovery(role, job)
        end
      end
    end
  end,
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
    local named = job.option.form == "named"
    if process.role == "scheduler" then
      env.MS_ROLE, env.MS_NODE_ID = "MS_SCHED", named and "sched" or nil
    elseif process.role == "server" then
      env.MS_ROLE, env.MS_NODE_ID = "MS_PSERVER", named and node_id("server", job.count.server) or nil
    else
      env.MS_ROLE = "MS_WORKER"
      if named then
        env.MS_NODE_ID = node_id("worker", job.count.worker)
        env.RANK_ID, env.RANK_SIZE = process.rank, process.world_size
        env.LOCAL_RANK, env.LOCAL_RANK_SIZE = process.local_rank, process.local_size
      end
    end
    return env
  end,
}
