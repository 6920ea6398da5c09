-- MindSpore's parameter-server mode (1.0 to 2.6; documentation "Parameter Server Mode"): one scheduler, servers that
-- hold the weights, workers. Node ids are unique over all roles, so they are words and not numbers, padded with zeros:
-- from 2.1 on the scheduler sorts them as strings (meta_server_node.cc), and rank order must be string order. Earlier
-- releases assigned ranks in the order in which processes registered, as all releases do in the documentation's minimal
-- form, in which processes have no ids.
local mindspore = part "mindspore"
local starts = part "starts"
local RECOVERY = "only servers recover in MindSpore's parameter-server mode (documentation \"Parameter Server Mode\")"

-- A restarted server finds its place by its node id, and its state in the file that `recovery` names.
local function check_recovery(role, job)
  local path = job.setting("set_ps_context", "config_file_path")
  local config = job.setting_file("set_ps_context", "config_file_path")
  if job.option.form == "minimal" then
    host.report("error", "restart", role.place, ("role %s: a server can only be restarted with its node id"):format(role.name),
                'leave form = "minimal" out')
  elseif not path or (config and not config.recovery) then
    host.report("error", "restart", role.place, ("role %s: a server that is restarted needs recovery in config_file_path"):format(role.name),
                'context.set_ps_context { config_file_path = muster.file "ps.json" }, with { "recovery": { … } } in it')
  end
end

-- The processes form a cluster of servers only if their context switches the mode on (API page of 1.6: the variables are
-- in effect once enable_ps is True).
local function check_mode(job)
  local enabled = job.setting("set_ps_context", "enable_ps")
  if enabled == true then return end
  local hint = "context.set_ps_context { enable_ps = true }"
  if enabled == false then
    host.report("error", "ps_mode", job.place, "framework mindspore-ps starts servers, and enable_ps = false switches the mode off", hint)
  else
    host.report("warning", "ps_mode", job.place, "framework mindspore-ps starts servers, and the recipe does not set enable_ps", hint .. ", unless the script does")
  end
end

-- Up to 1.9 init() on Ascend reads ranks and devices from a rank table, which this contract does not write.
local function check_ranks_on_ascend(job)
  if not job.before "2.0" or job.in_force("set_context", "device_target") ~= "Ascend" then return end
  if starts.workers(job) < 2 then return end
  local without = {}
  for _, role in ipairs(job.roles) do
    if role.plays == "worker" and not starts.sets(job, role, "RANK_TABLE_FILE") then without[#without + 1] = role end
  end
  for _, role in ipairs(without) do
    -- What `each` sets is not known yet.
    host.report(role.each and "warning" or "error", "contract_start", role.place,
                ("role %s: several workers on Ascend need a rank table in MindSpore %s: init() up to 1.9 requires RANK_TABLE_FILE"):format(role.name, job.release),
                'one worker, mindspore = "2.0" or later, or env = { RANK_TABLE_FILE = muster.file "hccl.json", override = true } with RANK_ID and DEVICE_ID in each')
  end
end

return contract {
  name = "mindspore-ps",
  doc = "MindSpore parameter servers: a scheduler, servers and workers.",
  source = 'MindSpore, documentation "Parameter Server Mode"',
  notes = {
    "All roles run the same script. Node ids are unique over all roles, not numeric, and padded with zeros, because from MindSpore 2.1 on the scheduler assigns ranks in the order of ids as strings. Up to 2.0, and in the minimal form, it assigns them in the order in which processes register: the plan then has no ranks, and `process.index` numbers the workers. Only servers can recover, with a `recovery` section in the JSON that `config_file_path` names, and with node ids.",
    starts.told "mindspore-ps",
  },
  example = 'framework = "mindspore-ps"\nframework = { "mindspore-ps", form = "minimal" }',
  roles = {
    scheduler = { min = 1, max = 1, add = "worker", done = "never", linger = "35s", doc = "forms the cluster" },
    server = { min = 1, done = "never", linger = "35s", doc = "holds the weights" },
    worker = { min = 1, doc = "trains" },
  },
  ends = "when all workers have exited; scheduler and servers then exit by themselves",
  derives = "`device_num` is the number of workers; `scheduler_manage_port = \"auto\"` uses a port that muster reserves",
  options = { form = { "named", "minimal", doc = "minimal: no node ids and no ranks, as in MindSpore's documentation" } },
  meeting = { role = "scheduler", port = "scheduler", avoid = mindspore.own_ports },
  ports = { scheduler_manage = "scheduler" },
  clear = mindspore.clear,
  absent = mindspore.absent,
  variables = {
    { "MS_ROLE", "all", "`MS_SCHED`, `MS_PSERVER` or `MS_WORKER`", is = "role", words = mindspore.roles },
    { "MS_SCHED_HOST", "all", "address of the scheduler's host, never a name", is = "address" },
    { "MS_SCHED_PORT", "all", "the scheduler's port", is = "port" },
    { "MS_WORKER_NUM", "all", "number of workers", is = "count", of = "worker" },
    { "MS_SERVER_NUM", "all", "number of servers", is = "count", of = "server" },
    { "MS_SCHED_MANAGE_PORT", "all", "`scheduler_manage_port`, if the recipe sets it" },
    { "MS_NODE_ID", "all", "`sched`, `server_00`, `worker_00`, …; not in the minimal form" },
    { "RANK_ID", "worker", "number among the workers, from MindSpore 2.1 on the rank; this and the following are not set in the minimal form", is = "rank", optional = true },
    { "RANK_SIZE", "worker", "number of workers", is = "count", of = "worker", optional = true },
    { "LOCAL_RANK", "worker", "rank on its host", is = "local_rank", optional = true },
    { "LOCAL_RANK_SIZE", "worker", "workers on its host", is = "local_size", optional = true },
  },
  context = true,
  arrange = function(job)
    if job.option.form == "minimal" or job.before "2.1" then job.ranks_of("worker", "MindSpore") end
  end,
  check = function(job)
    starts.check(job, "mindspore-ps")
    if job.release and not job.before "1.0" then  -- earlier releases have no servers, which has been reported
      check_mode(job)
      check_ranks_on_ascend(job)
    end
    for _, role in ipairs(job.roles) do
      if role.restart and role.restart.scope == "process" then
        if role.plays == "worker" then
          host.report("error", "restart", role.place, ("role %s: a single worker cannot be restarted: %s"):format(role.name, RECOVERY),
                      'scope = "job" starts all of them again')
        elseif role.plays == "server" then
          check_recovery(role, job)
        end
      end
    end
  end,
  -- Node ids as a format of the index, padded to the same length for all processes of a role.
  prepare = function(job)
    local function padded(role) return role .. "_%0" .. math.max(2, #tostring(job.count[role] - 1)) .. "d" end
    return { server = padded "server", worker = padded "worker", scheduler = "sched" }
  end,
  common = function(role, job)
    local env = {
      MS_WORKER_NUM = job.count.worker, MS_SERVER_NUM = job.count.server,
      MS_SCHED_HOST = job.meeting.address, MS_SCHED_PORT = job.meeting.port,
      MS_ROLE = mindspore.roles[role.plays],
      -- Enabling the mode overwrites the attribute with this variable's value (context API, set_ps_context).
      MS_SCHED_MANAGE_PORT = job.setting("set_ps_context", "scheduler_manage_port"),
    }
    if role.plays == "worker" and job.option.form == "named" then env.RANK_SIZE = job.count.worker end
    return env
  end,
  env = function(process, job)
    if job.option.form == "minimal" then return nil end
    local env = { MS_NODE_ID = job.prepared[process.role]:format(process.number) }
    if process.role == "worker" then
      env.RANK_ID = process.number
      env.LOCAL_RANK, env.LOCAL_RANK_SIZE = process.local_rank, process.local_size
    end
    return env
  end,
}
