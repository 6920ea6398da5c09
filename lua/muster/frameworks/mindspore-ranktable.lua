-- MindSpore started by a rank table (Ascend; discouraged since 2.4 and still accepted): no scheduler, a file with every
-- device and its rank. muster writes the file from the addresses in the recipe, or uses a table beside the recipe;
-- either way it is a file of the plan, and the processes' variables agree with it.
local mindspore, rank_table, starts = part "mindspore", part "rank_table", part "starts"
local FILE = "rank_table.json"

local function refuse(job, message, ...) host.report("error", "rank_table", job.place, message:format(...)) end

-- servers = { { id = "192.0.2.11", super_pod = "0", first = 4, devices = { "198.51.100.1", { ip = …, super_device_id = … } } }, … },
-- one for each host, as { id, super_pod, devices by number on the host }; nothing after a report.
local function read_servers(job)
  local given, servers, sound = job.option.servers, {}, true
  local function complain(message, ...)
    sound = false
    refuse(job, "servers of framework mindspore-ranktable: " .. message, ...)
  end
  if #given ~= job.cluster.hosts then
    complain("there are %d, and the cluster has %d hosts: one for each", #given, job.cluster.hosts)
    return nil
  end
  local super = job.option.version == "1.2"
  for i, server in ipairs(given) do
    if type(server) ~= "table" or type(server.devices) ~= "table" then
      complain("server %d must be { id = …, devices = { address, … } }, got %s", i, host.show(server))
      return nil
    end
    for key in pairs(server) do
      if key ~= "id" and key ~= "devices" and key ~= "super_pod" and key ~= "first" then complain("server %d has no field %s", i, host.show(key)) end
    end
    local first = server.first or 0
    if type(first) ~= "number" or first % 1 ~= 0 or first < 0 or first > 4095 then
      complain("server %d: first must be the number of its first device, got %s", i, host.show(first))
      return nil
    end
    local read = { id = server.id, super_pod = server.super_pod and host.text(server.super_pod), devices = {} }
    if read.id == nil and #given == 1 then read.id = host.hole("host_address", 0) end
    if type(read.id) ~= "string" then complain("server %d: id must be the address of the host, got %s", i, host.show(read.id)) end
    if super and not read.super_pod then complain('server %d: version "1.2" requires its super_pod', i) end
    for number, device in ipairs(server.devices) do
      if type(device) == "string" then device = { ip = device } end
      if type(device) ~= "table" or not rank_table.is_address(device.ip) then
        complain("device %d of server %d must be an address, got %s", first + number - 1, i, host.show(type(device) == "table" and device.ip or device))
        return nil
      end
      read.devices[first + number - 1] = { ip = device.ip, super_device_id = device.super_device_id and host.text(device.super_device_id) }
    end
    servers[i] = read
  end
  return sound and servers or nil
end

-- The numbers of a host's devices in the table, or in the recipe's servers, ascending.
local function numbers_there(job, server)
  local numbers = {}
  if job.given_ranks then
    for rank = 0, #job.given_ranks do
      local at = job.given_ranks[rank]
      if at.server == server and at.device then numbers[#numbers + 1] = at.device end
    end
  else
    for number in pairs(job.servers[server].devices) do numbers[#numbers + 1] = number end
  end
  table.sort(numbers)
  return numbers
end

-- Maps the plan's device numbers, which begin at 0 on every host, to those of the table: the numbers given by
-- --devices, or else the first ones of the table, which the plan then requests.
local function settle_numbers(job)
  local given, free = host.devices_given()
  if free then
    host.stop("rank_table", job.place, "--devices free: a rank table names its devices, with their addresses", "--devices 4-7 names them, too")
  elseif given then
    job.device_numbers = given
    return
  end
  local numbers = numbers_there(job, 1)
  for server = 2, job.cluster.hosts do
    local there = numbers_there(job, server)
    if there[1] ~= numbers[1] and (there[1] or 0) + (numbers[1] or 0) > 0 then
      host.stop("rank_table", job.place, ("the devices of server 1 begin with %s, and those of server %d with %s: every host's have the same numbers"):format(
        host.show(numbers[1]), server, host.show(there[1])))
    end
  end
  if (numbers[1] or 0) == 0 then return end
  for index, devices in ipairs(job.cluster.devices_of) do
    if devices ~= #numbers then
      host.stop("rank_table", job.place, ("host %d has %d devices, and its table %d, from %d on"):format(index - 1, devices, #numbers, numbers[1]),
                ("cluster = { devices_per_host = %d }"):format(#numbers))
    end
  end
  job.device_numbers = numbers
  host.use_devices(nil, false, numbers)
end

local function device_number(job, device)
  if device and job.device_numbers then return job.device_numbers[device + 1] end
  return device
end

-- The hosts in the order of their lowest ranks.
local function host_order(job)
  local position = {}
  if job.option.table then
    local ranks, count = rank_table.read(job.option.table.json, function(severity, message)
      host.report(severity, "rank_table", job.place, job.option.table.name .. ": " .. message)
    end)
    host.stop_if_errors()
    if count ~= job.cluster.hosts then
      host.stop("rank_table", job.place, ("%s has %d servers, and the cluster has %d hosts"):format(job.option.table.name, count, job.cluster.hosts))
    end
    job.given_ranks = ranks
    for rank = #ranks, 0, -1 do position[ranks[rank].server] = rank end
  else
    job.servers = read_servers(job)
    host.stop_if_errors()
    for i, server in ipairs(job.servers) do position[i] = server.id end
  end
  local order = {}
  for i = 1, job.cluster.hosts do order[i] = i end
  table.sort(order, function(a, b) return position[a] < position[b] end)
  for i, server in ipairs(order) do order[i] = server - 1 end
  return order
end

return contract {
  name = "mindspore-ranktable",
  doc = "MindSpore with a rank table: ranked workers, a file with all their devices, no scheduler.",
  source = 'MindSpore, documentation "rank table Startup"; HCCL, formats of the rank table',
  notes = {
    "`servers` has one entry for each host: `{ id = \"192.0.2.11\", devices = { \"198.51.100.1\", … } }`, with the address of the host and those of its devices by number; `id` can be omitted with a single host, and `first = 4` means that the first address is that of device 4. With `--devices 4-7` the table contains only those devices. Format 1.2 also requires `super_pod` and devices as `{ ip = …, super_device_id = … }`. Ranks follow the order of `id` as text, as MindSpore requires, so 192.0.2.100 comes before 192.0.2.11; muster orders the hosts in this way. The file is `files/" .. FILE .. "` in the run directory. In format 1.1 workers with `devices = 0` are ranks on the host's processor.",
    "`table = \"hccl.json\"` uses a table beside the recipe instead. It is checked (counts, ranks, addresses, super pods), its servers are the hosts in the order of the file, and every worker must get the device of its rank in the table. Ranks with or without quotes and hosts in the order of their addresses are accepted, as written by merge_hccl.py. A table from elsewhere, as `/user/config/jobstart_hccl.json` of ModelArts, is copied beside the recipe first; in its grouped form (`group_list`) `muster.read_json` reads the addresses for `servers`.",
    "Devices are identified by their numbers on the host, in the table and in `DEVICE_ID`, so no variable hides other devices.",
    starts.told "mindspore-ranktable",
  },
  example = 'framework = { "mindspore-ranktable", servers = { { devices = { "198.51.100.1", "198.51.100.2" } } } }\nframework = { "mindspore-ranktable", table = "hccl.json" }',
  roles = { worker = { min = 1, devices = 1, doc = "trains" } },
  ends = "when all workers have exited",
  derives = "`device_num` is the number of workers, `global_rank` the rank",
  options = {
    version = { "1.0", "1.1", "1.2", doc = "format of the table that muster writes" },
    servers = { kind = "table", doc = "addresses of hosts and devices, for a table that muster writes" },
    table = { kind = "file", doc = "a table beside the recipe" },
  },
  clear = mindspore.clear,
  absent = mindspore.absent,
  variables = {
    { "RANK_TABLE_FILE", "worker", "absolute path of the table" },
    { "RANK_ID", "worker", "rank, as in the table", is = "rank" },
    { "RANK_SIZE", "worker", "number of workers", is = "count", of = "worker" },
    { "DEVICE_ID", "worker", "number of its device, as in the table" },
    { "LOCAL_RANK", "worker", "rank on its host", is = "local_rank" },
    { "LOCAL_RANK_SIZE", "worker", "workers on its host", is = "local_size" },
  },
  context = true,
  names_devices = true,
  arrange = function(job)
    if (job.option.servers == nil) == (job.option.table == nil) then
      host.stop("rank_table", job.place, "framework mindspore-ranktable: give servers, of which a table is made, or a table; one of them",
                'framework = { "mindspore-ranktable", table = "hccl.json" }')
    end
    local order = host_order(job)
    settle_numbers(job)
    for _, role in ipairs(job.roles) do
      if role.plays == "worker" then
        local wanted = {}
        for _, index in ipairs(role.on_hosts or order) do wanted[index] = true end
        role.on_hosts = {}
        for _, index in ipairs(order) do
          if wanted[index] then role.on_hosts[#role.on_hosts + 1] = index end
        end
      end
    end
  end,
  check = function(job)
    starts.check(job, "mindspore-ranktable")
    for _, role in ipairs(job.roles) do
      if role.plays == "worker" and (role.devices > 1 or (role.devices == 0 and (job.option.table or job.option.version ~= "1.1"))) then
        host.report("error", "rank_table", role.place, ("role %s: a rank of the table has one device, and each process has %d"):format(role.name, role.devices),
                    "devices = 1")
      end
    end
  end,
  prepare = function(job)
    local ranks, place = {}, job.place
    for _, role in ipairs(job.roles) do
      if role.plays == "worker" then
        for _, placed in ipairs(role.placed) do
          ranks[placed.rank], place = { host = placed.host, device = device_number(job, placed.devices[1]) }, role.place
        end
      end
    end
    if job.given_ranks then
      local name, given = job.option.table.name, job.given_ranks
      if #given ~= #ranks then
        host.stop("rank_table", place, ("%s has %d ranks, and the plan %d workers"):format(name, #given + 1, #ranks + 1))
      end
      for rank = 0, #ranks do
        local table_has, plan_has = given[rank], ranks[rank]
        if table_has.server - 1 ~= plan_has.host or table_has.device ~= plan_has.device then
          host.stop("rank_table", place, ("rank %d: %s has device %s of server %d, the plan device %s of host %d"):format(
            rank, name, host.show(table_has.device), table_has.server, host.show(plan_has.device), plan_has.host),
            "servers are hosts in the order of the file, and devices are assigned in the order of their numbers")
        end
      end
      return job.option.table.path
    end
    -- Servers in the order of ranks, without those that have no rank.
    local servers, position, made = {}, {}, {}
    for rank = 0, #ranks do
      local at = ranks[rank]
      local server = job.servers[at.host + 1]
      if at.device and not server.devices[at.device] then
        host.stop("rank_table", place, ("rank %d has device %d of host %d, and its server has no address for it"):format(rank, at.device, at.host))
      end
      if not position[at.host] then
        servers[#servers + 1] = server
        position[at.host] = #servers
      end
      made[rank] = { server = position[at.host], device = at.device }
    end
    local content = rank_table.make(job.option.version, "muster-" .. job.run_id, servers, made)
    rank_table.read(content, function(severity, message) host.report(severity, "rank_table", job.place, message) end)
    return job.file(FILE, host.json(content, 2) .. "\n")
  end,
  common = function(_, job) return { RANK_TABLE_FILE = job.prepared, RANK_SIZE = job.count.worker } end,
  env = function(process, job)
    return {
      RANK_ID = process.rank, DEVICE_ID = device_number(job, process.devices[1]),
      LOCAL_RANK = process.local_rank, LOCAL_RANK_SIZE = process.local_size,
    }
  end,
}
