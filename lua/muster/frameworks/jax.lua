-- JAX's distributed runtime: process 0 serves the coordinator. Scripts pass the number of processes and the process id
-- to initialize(); without arguments JAX finds them only in a cluster that it detects, so a Slurm step can be imitated.
local restarts = part "restarts"

-- The devices of a process by their numbers among the visible ones, or nil if they are unknown: JAX then takes all
-- visible devices, or, in a cluster that it detected, the one with the number of its local rank.
local function device_ids(process, job)
  local ids = {}
  for i, device in ipairs(process.devices) do
    ids[i] = process.position and process.position[device] or i - 1
  end
  if #ids > 0 then return table.concat(ids, ",") end
  if job.worlds[process.world].most_local > 1 then return process.local_rank end
  local there = job.cluster.devices_of[process.host.index + 1]
  if there < 2 and job.option.imitate ~= "slurm" then return nil end
  for i = 1, math.max(1, there) do ids[i] = i - 1 end
  return table.concat(ids, ",")
end

return contract {
  name = "jax",
  doc = "JAX: ranked workers, with the coordinator in the first one.",
  source = 'JAX, documentation "Multi-controller JAX"; jax/_src/distributed.py and jax/_src/clusters',
  notes = {
    "JAX itself reads `JAX_COORDINATOR_ADDRESS` and `JAX_LOCAL_DEVICE_IDS`, and `JAX_COORDINATOR_BIND_ADDRESS` and `JAX_COORDINATOR_PORT` if a recipe sets them; scripts pass on the other variables: `jax.distributed.initialize(num_processes=int(os.environ[\"JAX_NUM_PROCESSES\"]), process_id=int(os.environ[\"JAX_PROCESS_ID\"]))`. For scripts that call `initialize()` without arguments `imitate = \"slurm\"` adds the variables by which JAX detects a Slurm step. Other libraries in the process may then also assume Slurm.",
    "Proxies are removed, because gRPC would route the traffic between the processes through them.",
  },
  example = 'framework = "jax"\nframework = { "jax", imitate = "slurm" }',
  roles = { worker = { min = 1, doc = "one process of the computation" } },
  worlds = "many",
  ends = "when all workers have exited",
  meeting = { role = "worker", port = "coordinator" },
  options = { imitate = { "nothing", "slurm", doc = "a cluster that JAX detects by itself" } },
  clear = { "SLURM_*", "OMPI_*", "PMIX_*", "http_proxy", "https_proxy", "all_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY",
            "ALL_PROXY", "JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_BIND_ADDRESS", "JAX_COORDINATOR_PORT", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID",
            "JAX_PROCESS_INDEX", "JAX_LOCAL_DEVICE_IDS", "JOB_COMPLETION_INDEX", "KERAS_DISTRIBUTION_*" },
  variables = {
    { "JAX_COORDINATOR_ADDRESS", "worker", "address and port of process 0", is = "endpoint" },
    { "JAX_NUM_PROCESSES", "worker", "number of workers", is = "world_size" },
    { "JAX_PROCESS_ID", "worker", "rank", is = "rank" },
    { "JAX_PROCESS_INDEX", "worker", "rank", is = "rank" },
    { "JAX_LOCAL_DEVICE_IDS", "worker", "the numbers of its devices among the visible ones; without devices in the plan the local rank, or all devices of the host if it is the only worker there" },
    { "SLURM_JOB_ID", "worker", "1, with `imitate = \"slurm\"`, as the following" },
    { "SLURM_STEP_NODELIST", "worker", "addresses of the hosts that have workers" },
    { "SLURM_NTASKS", "worker", "number of workers", is = "world_size", optional = true },
    { "SLURM_PROCID", "worker", "rank", is = "rank", optional = true },
    { "SLURM_LOCALID", "worker", "rank on its host", is = "local_rank", optional = true },
  },
  check = function(job)
    restarts.at_least("role", job, function(role)
      return role.plays == "worker" and "JAX does not take a single process back"
    end, restarts.all_workers)
  end,
  common = function(role, job)
    local world = job.worlds[role.world]
    local env = { JAX_COORDINATOR_ADDRESS = world.meeting.address .. ":" .. world.meeting.port, JAX_NUM_PROCESSES = world.size }
    if job.option.imitate == "slurm" then
      local addresses = {}
      for i, index in ipairs(world.host_order) do addresses[i] = host.hole("host_address", index) end
      env.SLURM_JOB_ID, env.SLURM_NTASKS, env.SLURM_STEP_NODELIST = 1, world.size, table.concat(addresses, ",")
    end
    return env
  end,
  env = function(process, job)
    local env = { JAX_PROCESS_ID = process.rank, JAX_PROCESS_INDEX = process.rank, JAX_LOCAL_DEVICE_IDS = device_ids(process, job) }
    if job.option.imitate == "slurm" then env.SLURM_PROCID, env.SLURM_LOCALID = process.rank, process.local_rank end
    return env
  end,
}
