-- MPI: a rank needs a running PMIx server, which only MPI's own launcher provides, so muster starts that launcher
-- instead of the ranks. For programs that only read the variables, muster can set those instead.
local starts = part "starts"

local NOT_OURS = { "OMPI_COMM_WORLD_*", "OMPI_UNIVERSE_SIZE", "OMPI_COMMAND", "OMPI_ARGV", "OMPI_APP_CTX_NUM_PROCS",
                   "OMPI_NUM_APP_CTX", "OMPI_FIRST_RANKS", "OMPI_FILE_LOCATION", "OMPI_MCA_orte_*", "OMPI_MCA_ess*", "PMIX_*",
                   "PMI_*" }
-- srun passes its environment to all nodes, and slurmd sets these for the devices that it grants on each: gres.conf(5).
-- Those of the first node are not true on the others.
local OF_EACH_NODE = { "ASCEND_RT_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_VISIBLE_DEVICES",
                       "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK" }

-- "addr0:8,addr1:8": the hosts of the ranks, in the order of ranks, and the number of these hosts. Named hosts have all of
-- their slots there, so that mpirun places the ranks itself, with the mapping of its args.
local function slots_of(role, job)
  local hosts, slots = {}, {}
  if job.slots_of and role.devices == 0 and not role.per_host and role.spread ~= "deal" then
    for i, index in ipairs(role.on_hosts or {}) do hosts[i] = index end
    for index = 0, #hosts == 0 and job.cluster.hosts - 1 or -1 do hosts[#hosts + 1] = index end
    for i = #hosts, 1, -1 do
      slots[hosts[i]] = job.slots_of[hosts[i] + 1]
      if slots[hosts[i]] == 0 then table.remove(hosts, i) end
    end
  else
    for _, placed in ipairs(role.placed) do
      if not slots[placed.host] then hosts[#hosts + 1] = placed.host end
      slots[placed.host] = (slots[placed.host] or 0) + 1
    end
  end
  local words = {}
  for i, index in ipairs(hosts) do words[i] = ("%s:%d"):format(host.hole("host_address", index), slots[index]) end
  return table.concat(words, ","), #hosts
end

return contract {
  name = "mpi",
  doc = "MPI: ranks that are started by mpirun or srun, or the variables alone.",
  source = "Open MPI 4.1, mpirun(1); Slurm, MPI guide",
  notes = {
    "A real MPI rank must be started by MPI's own launcher. With `start = \"mpirun\"` or `\"srun\"` the plan has one process for all workers, the launcher, and the ranks are its children. muster supervises the launcher: the job ends when it exits, a stop is sent to it, and on this machine no process remains. Logs, readiness, restarts, `each` and limits apply to the launcher, not to a rank; the first failed rank is printed in the launcher's last lines; the launcher, not muster, connects to the other hosts and stops the ranks there.",
    "Ranks see devices as their launcher gives them: `srun` those that Slurm grants on each node, `mpirun` those of the job on the first host, and on other hosts those of a login there.",
    "`start = \"variables\"` starts the workers as ordinary processes with the variables from which programs read rank and size. A program that calls `MPI_Init` then has a world of size 1.",
    "As root Open MPI requires `OMPI_ALLOW_RUN_AS_ROOT=1` and `OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1`; these and `OMPI_MCA_*` other than the launcher's own are inherited.",
  },
  example = 'framework = "mpi"\nframework = { "mpi", args = { "--bind-to", "none" } }\nframework = { "mpi", start = "srun" }',
  roles = { worker = { min = 1, doc = "a rank" } },
  worlds = "many",
  ends = "when the launcher, or without one all workers, have exited",
  options = {
    start = { "mpirun", "srun", "variables", doc = "how the ranks are started" },
    args = { kind = "list", doc = "further arguments of mpirun or srun" },
    pmi = { kind = "text", default = "pmix", doc = "value of `srun --mpi=`" },
  },
  clear = function(option)
    local clear = { unpack(NOT_OURS) }
    -- mpirun would use the Slurm allocation.
    for _, name in ipairs(option.start == "srun" and OF_EACH_NODE or { "SLURM_*" }) do clear[#clear + 1] = name end
    return clear
  end,
  variables = {
    { "OMPI_COMM_WORLD_RANK", "worker", "rank, with `start = \"variables\"`, as the following; else the launcher sets them", is = "rank", optional = true },
    { "OMPI_COMM_WORLD_SIZE", "worker", "number of workers", is = "world_size", optional = true },
    { "OMPI_UNIVERSE_SIZE", "worker", "number of workers", is = "world_size", optional = true },
    { "OMPI_COMM_WORLD_LOCAL_RANK", "worker", "rank on its host", is = "local_rank", optional = true },
    { "OMPI_COMM_WORLD_LOCAL_SIZE", "worker", "workers on its host", is = "local_size", optional = true },
    { "OMPI_COMM_WORLD_NODE_RANK", "worker", "rank on its host", is = "local_rank", optional = true },
  },
  check = function(job)
    starts.check_mode(job, "mpi")
    if job.option.start == "variables" then return end
    local first = {}
    for _, role in ipairs(job.roles) do
      local other = first[role.world]
      if role.plays == "worker" and other then
        host.report("error", "roles", role.place, ("roles %s and %s share a world, and one %s starts one role"):format(other.name, role.name, job.option.start),
                    ('world = "%s" gives it ranks of its own'):format(role.name), { { "role " .. other.name, other.place } })
      elseif role.plays == "worker" then
        first[role.world] = role
      end
    end
  end,
  -- As mpirun and srun do, except with options that allow more processes than slots.
  slots = function(option)
    if option.start == "variables" then return "warning" end
    for _, word in ipairs(option.args or {}) do
      if word:lower():find("oversubscribe", 1, true) and not word:lower():find("nooversubscribe", 1, true) or word == "--overcommit" or word == "-O" then
        return "none"
      end
    end
    return "error"
  end,
  launcher = function(role, job)
    if job.option.start == "variables" then return nil end
    local slots, hosts = slots_of(role, job)
    local words
    if job.option.start == "mpirun" then
      words = { "mpirun", "-n", #role.placed, "--host", slots }
      -- Ranks on other hosts inherit only the variables named here.
      for _, name in ipairs(hosts > 1 and job.variable_names(role) or {}) do words[#words + 1], words[#words + 2] = "-x", name end
    else
      words = { "srun", "--mpi=" .. job.option.pmi, "--ntasks=" .. #role.placed, "--nodes=" .. hosts }
    end
    for _, word in ipairs(job.option.args or {}) do words[#words + 1] = word end
    return words, job.option.start == "srun"
  end,
  env = function(process, job)
    if job.option.start ~= "variables" then return nil end
    return {
      OMPI_COMM_WORLD_RANK = process.rank, OMPI_COMM_WORLD_SIZE = process.world_size, OMPI_UNIVERSE_SIZE = process.world_size,
      OMPI_COMM_WORLD_LOCAL_RANK = process.local_rank, OMPI_COMM_WORLD_LOCAL_SIZE = process.local_size,
      OMPI_COMM_WORLD_NODE_RANK = process.local_rank,
    }
  end,
}
