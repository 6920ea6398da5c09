-- Rank tables of HCCL, formats "1.0", "1.1" (with ranks on the host's processor) and "1.2" (with super pods): writes
-- tables, and reads and checks them. All numbers in a table are texts. Sources: HCCL's topology loaders; MindSpore,
-- documentation "rank table startup", for the order of ranks.
local VERSIONS = { ["1.0"] = true, ["1.1"] = true, ["1.2"] = true }

local function shown(value) return host.show(value) end

local function is_hole(text) return text:find("^%${muster:host_address:%d+}$") ~= nil end

local function is_address(text)
  if type(text) ~= "string" then return false end
  if is_hole(text) then return true end
  local parts = { text:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$") }
  for _, part in ipairs(parts) do
    if #part > 3 or tonumber(part) > 255 then return false end
  end
  return #parts == 4 or (text:find(":", 1, true) ~= nil and text:find("^[%x:.]+$") ~= nil)
end

local function is_number(text) return type(text) == "string" and text:find("^%d+$") ~= nil and #text <= 7 end

-- A rank as in the formats (a text), or as merge_hccl.py writes it (a number).
local function rank_in(value)
  if type(value) == "number" and value >= 0 and value < 1e7 and value % 1 == 0 then return value end
  return is_number(value) and tonumber(value) or nil
end

-- A key that sorts IPv4 addresses numerically.
local function by_number(id)
  return (id:gsub("%d+", function(digits) return ("%05d"):format(tonumber(digits:sub(1, 5))) end))
end

-- The ranks of a table: { [rank] = { server = position from 1, device = number or nil } }, by rank from 0, and the
-- number of servers; calls complain(severity, message) for each problem. Returns nothing if the table cannot be read.
local function read(given, complain)
  local wrong = false
  local function refuse(message, ...)
    wrong = true
    complain("error", message:format(...))
  end
  if type(given) ~= "table" then
    refuse("a rank table is an object with version and server_list, got %s", type(given))
    return nil
  elseif given.version == nil and type(given.group_list) == "table" and type(given.group_list[1]) == "table" and given.group_list[1].instance_list then
    refuse("it has no version: this is the grouped form that ModelArts writes; give servers instead, one for each entry of instance_list: "
      .. "id is its server_id, devices the device_ip of its devices")
    return nil
  elseif given.version == nil and (given.group_list ~= nil or given.board_id ~= nil) then
    refuse("it has no version: this is the grouped form of MindSpore 0.x (board_id, group_list), for MINDSPORE_HCCL_CONFIG_PATH; "
      .. 'write it as version "1.0" with server_list, as hccl_tools.py from 0.5 on does, or give servers')
    return nil
  elseif not VERSIONS[given.version] then
    refuse('version must be "1.0", "1.1" or "1.2", %s', given.version == nil and "and is missing" or "got " .. (type(given.version) == "table" and "a table" or shown(given.version)))
    return nil
  end
  local hetero = given.version == "1.1"
  local servers = hetero and given.node_list or given.server_list
  local list_name, id_name, members = "server_list", "server_id", "device"
  if hetero then list_name, id_name, members = "node_list", "node_addr", "ranks" end
  if type(servers) ~= "table" or #servers == 0 then
    refuse("%s is missing or empty", list_name)
    return nil
  end
  if not hetero then
    if given.status == "initializing" then
      refuse("status is \"initializing\": the file is not complete yet")
    elseif given.status ~= "completed" then
      refuse("status must be \"completed\", got %s", shown(given.status))
    end
    if given.server_count ~= tostring(#servers) then
      refuse("server_count must be \"%d\", the number of servers in the list, got %s", #servers, shown(given.server_count))
    end
  elseif given.mode ~= nil and given.mode ~= "tcp" and given.mode ~= "rdma" then
    refuse("mode must be \"tcp\" or \"rdma\", got %s", shown(given.mode))
  end
  if hetero and (type(given.collective_id) ~= "string" or given.collective_id == "") then refuse("collective_id is missing") end

  local ranks, count, seen_server, seen_address = {}, 0, {}, {}
  for position, server in ipairs(servers) do
    local id = type(server) == "table" and server[id_name]
    local where = ("%s %d"):format(hetero and "node" or "server", position)
    if type(id) ~= "string" or id == "" or (#id >= 64 and not is_hole(id)) then
      refuse("%s: %s must be a text of less than 64 characters, got %s", where, id_name, shown(id))
    elseif seen_server[id] then
      refuse("%s: %s %s occurs twice", where, id_name, shown(id))
    elseif hetero and not is_address(id) then
      refuse("%s: node_addr must be an address, got %s", where, shown(id))
    end
    if type(id) == "string" then seen_server[id] = true end
    local devices, seen_device = type(server) == "table" and server[members], {}
    if type(devices) ~= "table" or #devices == 0 then
      refuse("%s: %s is missing or empty", where, members)
      devices = {}
    end
    for _, device in ipairs(devices) do
      device = type(device) == "table" and device or {}
      local rank = rank_in(device.rank_id)
      if not rank then
        refuse("%s: rank_id must be a whole number, usually written as text, got %s", where, shown(device.rank_id))
      elseif ranks[rank] then
        refuse("%s: rank_id \"%d\" occurs twice", where, rank)
      end
      local what = ("%s, rank %s"):format(where, rank or "?")
      if device.device_id == nil and not hetero then
        refuse("%s: device_id is missing", what)
      elseif device.device_id ~= nil and not is_number(device.device_id) then
        refuse("%s: device_id must be a number written as text, got %s", what, shown(device.device_id))
      elseif device.device_id ~= nil and seen_device[device.device_id] then
        refuse("%s: device_id \"%s\" occurs twice", what, device.device_id)
      end
      if device.device_id ~= nil then seen_device[device.device_id] = true end
      local address_name = hetero and "rank_ip" or "device_ip"
      local address = device[address_name]
      if address == nil and hetero or hetero and address == "" then
        address = nil  -- the address of the node
      elseif not is_address(address) then
        refuse("%s: %s must be an address, got %s", what, address_name, shown(address))
      elseif seen_address[address] then
        refuse("%s: %s %s is also rank %s's", what, address_name, address, seen_address[address])
      else
        seen_address[address] = rank or "?"
      end
      if given.version == "1.2" and not is_number(device.super_device_id) then
        refuse("%s: super_device_id must be a number written as text, got %s", what, shown(device.super_device_id))
      end
      if rank then
        ranks[rank] = { server = position, device = is_number(device.device_id) and tonumber(device.device_id) or nil }
        count = count + 1
      end
    end
  end
  for rank = 0, count - 1 do
    if not wrong and not ranks[rank] then refuse("ranks are 0 to %d, and rank %d is missing", count - 1, rank) end
  end
  if given.version == "1.2" then
    local in_pod = {}
    for _, pod in ipairs(type(given.super_pod_list) == "table" and given.super_pod_list or {}) do
      for _, server in ipairs(type(pod) == "table" and type(pod.server_list) == "table" and pod.server_list or {}) do
        local id = type(server) == "table" and server.server_id
        if in_pod[id] then refuse("super_pod_list names server %s twice", shown(id)) end
        if not seen_server[id] then refuse("super_pod_list names %s, which is no server of the list", shown(id)) end
        in_pod[id or ""] = true
      end
    end
    for _, server in ipairs(servers) do
      if type(server) == "table" and not in_pod[server.server_id] then refuse("super_pod_list does not name server %s", shown(server.server_id)) end
    end
  end
  if wrong then return nil end
  -- The documentation requires the order of texts; tables merged from those of the hosts have the order of addresses.
  local as_text, as_address
  for rank = 1, hetero and 0 or count - 1 do
    local before, after = servers[ranks[rank - 1].server][id_name], servers[ranks[rank].server][id_name]
    local words = ("ranks are assigned in the order of %s, and rank %d is on %s after %s"):format(id_name, rank, after, before)
    if before > after then as_text = as_text or words end
    if by_number(before) > by_number(after) then as_address = as_address or words end
  end
  if as_text and as_address then complain("warning", as_text) end
  return ranks, #servers
end

-- The table of these servers ({ id, super_pod, devices = { { ip, super_device_id } by device number from 0 } }, in the
-- order of ranks) and ranks ({ server, device } by rank from 0).
local function make(version, id, servers, ranks)
  local hetero = version == "1.1"
  local list = {}
  for position, server in ipairs(servers) do
    list[position] = hetero and { node_addr = server.id, ranks = {} } or { server_id = server.id, host_nic_ip = "reserve", device = {} }
  end
  for rank = 0, #ranks do
    local at = ranks[rank]
    local device = at.device and servers[at.server].devices[at.device]
    local entry = { rank_id = tostring(rank), device_id = at.device and tostring(at.device) or nil }
    if device then entry[hetero and "rank_ip" or "device_ip"] = device.ip end
    if device and version == "1.2" then entry.super_device_id = device.super_device_id end
    local members = list[at.server].device or list[at.server].ranks
    members[#members + 1] = entry
  end
  if hetero then return { version = version, collective_id = id, node_list = list } end
  local made = { version = version, status = "completed", server_count = tostring(#list), server_list = list }
  if version == "1.2" then
    local pods, by_id = {}, {}
    for _, server in ipairs(servers) do
      local pod = by_id[server.super_pod]
      if not pod then
        pod = { super_pod_id = server.super_pod, server_list = {} }
        by_id[server.super_pod], pods[#pods + 1] = pod, pod
      end
      pod.server_list[#pod.server_list + 1] = { server_id = server.id }
    end
    made.super_pod_list = pods
  end
  return made
end

return { read = read, make = make, is_address = is_address }
