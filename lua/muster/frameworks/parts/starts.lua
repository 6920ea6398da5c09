-- The device targets and first releases of each way to start MindSpore. Every row names its source: what init() of the
-- release requires (mindspore/communication/management.py) or which variables it reads.
local STARTS = {
  ["mindspore"] = {
    { "GPU", since = "1.6", source = "init() builds a cluster from MS_ROLE for nccl from 1.6 on" },
    { "CPU", since = "1.6", source = "init() builds a cluster from MS_ROLE for mccl from 1.6 on" },
    { "Ascend", since = "2.0", source = "init() up to 1.9 requires RANK_TABLE_FILE unless started by mpirun; from 2.0 on MS_ROLE is sufficient" },
  },
  ["mindspore-ps"] = {
    { "Ascend", since = "1.0", source = "set_ps_context and the MS_ variables came with 1.0" },
    { "GPU", since = "1.0", source = "set_ps_context and the MS_ variables came with 1.0" },
    { "CPU", since = "1.0", source = "set_ps_context and the MS_ variables came with 1.0" },
  },
  ["mindspore-ranktable"] = {
    { "Ascend", since = "0.1", source = "HCCL alone reads a rank table" },
  },
}
local OTHERS = { "mindspore", "mindspore-ps", "mindspore-ranktable" }
local TARGET_OF_KIND = { ascend = "Ascend", cuda = "GPU" }

local function row_of(contract, target)
  for _, row in ipairs(STARTS[contract]) do
    if row[1] == target then return row end
  end
end

-- Whether the contract can start the job's release on that target.
local function works(job, contract, target)
  local row = row_of(contract, target)
  return row ~= nil and not job.before(row.since)
end

-- For messages: "framework = "mindspore-ranktable"", "device_target = "GPU" or "CPU"", "mindspore = "2.0" or later".
local function ways_out(job, contract, target)
  local ways, targets = {}, {}
  local row = row_of(contract, target)
  for _, other in ipairs(target and OTHERS or {}) do
    -- Parameter servers are another way to train, not a way to start the same job.
    if other ~= contract and other ~= "mindspore-ps" and works(job, other, target) then ways[#ways + 1] = ('framework = "%s"'):format(other) end
  end
  for _, each in ipairs(STARTS[contract]) do
    if each[1] ~= target and works(job, contract, each[1]) then targets[#targets + 1] = '"' .. each[1] .. '"' end
  end
  if #targets > 0 then ways[#ways + 1] = "device_target = " .. table.concat(targets, " or ") end
  if row or not target then ways[#ways + 1] = ('mindspore = "%s" or later'):format((row or STARTS[contract][1]).since) end
  return table.concat(ways, ", or ")
end

local starts = {}

-- Whether the recipe sets the variable for the whole role.
function starts.sets(job, role, variable)
  for _, name in ipairs(job.variable_names(role)) do
    if name == variable then return true end
  end
  return false
end

-- The number of workers that the roles ask for.
function starts.workers(job)
  local workers = 0
  for _, role in ipairs(job.roles) do
    if role.plays == "worker" then
      workers = workers + (role.count or (role.per_host or 0) * (role.on_hosts and #role.on_hosts or job.cluster.hosts))
    end
  end
  return workers
end

-- Reports parameter-server mode where no process is a server: neither by its role nor by variables of the recipe's own.
function starts.check_mode(job, contract)
  if job.setting("set_ps_context", "enable_ps") ~= true then return end
  for _, role in ipairs(job.roles) do
    if role.plays == "server" or role.each or starts.sets(job, role, "MS_ROLE") then return end
  end
  host.report("warning", "ps_mode", job.place, ("enable_ps = true, and framework %s starts no servers"):format(contract),
              'framework = "mindspore-ps" starts them, or leave enable_ps out')
end

-- Reports a contract that cannot start the recipe's release on its device target. If the recipe determines neither
-- target nor kind of devices, reports a contract that can start it on no target.
function starts.check(job, contract)
  if not job.release then return end
  if contract ~= "mindspore-ps" then starts.check_mode(job, contract) end
  local target = job.in_force("set_context", "device_target") or TARGET_OF_KIND[job.device_kind or ""]
  local possible = false
  for _, row in ipairs(STARTS[contract]) do possible = possible or works(job, contract, row[1]) end
  if possible and (not target or works(job, contract, target)) then return end
  local row = target and row_of(contract, target)
  local why = row and row.source or STARTS[contract][1].source
  host.report("error", "contract_start", job.place,
              ("framework %s cannot start %sin MindSpore %s: %s"):format(contract, target and "on " .. target .. " " or "", job.release, why),
              ways_out(job, contract, target))
end

-- The contract's rows as a paragraph of its documentation.
function starts.told(contract)
  local told, targets = {}, {}
  for i, row in ipairs(STARTS[contract]) do
    local after = STARTS[contract][i + 1]
    targets[#targets + 1] = row[1]
    if not after or after.source ~= row.source then
      told[#told + 1] = ("on %s from MindSpore %s on (%s)"):format(table.concat(targets, ", "), row.since, row.source)
      targets = {}
    end
  end
  return "It starts " .. table.concat(told, "; ") .. ". `muster check` refuses a contract that cannot start the recipe's release on its device target."
end

return starts
