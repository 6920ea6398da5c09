-- Rendezvous: the worlds in which processes are ranked, the rendezvous endpoints of a contract, and the ports of the
-- context. Settles which process listens on which port; port numbers are found and reserved at the start.
local host = ...

local rendezvous = {}

-- The worlds that have processes: { [name] = { name, size, host_order (numbers of hosts, in the order of ranks), node =
-- { [host] = position from 0 }, most_local, first = { role, placed } } }, and the name of the first. Needs the roles'
-- placement.
function rendezvous.worlds(roles)
  local worlds, first_name = {}, nil
  for _, role in ipairs(roles) do
    if role.world ~= "" then
      for _, placed in ipairs(role.placed) do
        local world = worlds[role.world]
        if not world then
          world = { name = role.world, size = 0, host_order = {}, node = {}, most_local = 0, first = { role = role, placed = placed } }
          worlds[role.world], first_name = world, first_name or role.world
        end
        world.size = world.size + 1
        if placed.local_size > world.most_local then world.most_local = placed.local_size end
        if not world.node[placed.host] then
          world.node[placed.host] = #world.host_order
          world.host_order[#world.host_order + 1] = placed.host
        end
      end
    end
  end
  return worlds, first_name
end

-- Assigns the port `name` to process 0 of the role, and returns the rendezvous endpoint.
local function point(job, contract, name, role)
  local first = role.placed[1]
  local port = job.ports[name] or { number = 0, place = role.place }
  port.host, port.owner = first.host, role.name .. ".0"
  job.ports[name] = port
  local avoid = contract.meeting.avoid
  if avoid and port.number >= avoid[1] and port.number <= avoid[2] then
    host.report("warning", "contract_port", port.place, ("port %s has the number %d: %s"):format(name, port.number, avoid[3]),
                "leave the number to muster, or take one outside")
  end
  return { address = host.hole("host_address", first.host), port = host.hole("port", name) }
end

-- The contract's rendezvous endpoint, or nil. With worlds = "many" every world gets its own, at its first process.
function rendezvous.settle(job, contract, worlds, first_world)
  local wanted = contract.meeting
  if not wanted then return nil end
  if contract.worlds == "many" then
    for _, name in ipairs(host.sorted_keys(worlds)) do
      local world = worlds[name]
      if world.first.role.plays == wanted.role then
        world.meeting = point(job, contract, name == first_world and wanted.port or wanted.port .. "_" .. name, world.first.role)
      end
    end
    return nil
  end
  for _, role in ipairs(job.roles) do
    if role.plays == wanted.role and role.placed[1] then return point(job, contract, wanted.port, role) end
  end
  return nil
end

-- The recipe's port that already has this number on the host; the rendezvous port counts, too, whatever its host.
local function port_with(job, number, index, meeting_port)
  for _, name in ipairs(host.sorted_keys(job.ports)) do
    local port = job.ports[name]
    if number > 0 and port.number == number and (port.host == index or name == meeting_port) then return name, port end
  end
end

-- Reserves the ports that the context requests, with "auto" or by number, for the processes named by the contract.
function rendezvous.hold_context_ports(job, contract)
  for _, wanted in ipairs(host.context_ports()) do
    local meeting_port = (contract.meeting or {}).port
    local role_name, owner = (contract.ports or {})[wanted.port], nil
    for _, role in ipairs(job.roles) do
      if role.plays == role_name and not owner then owner = role end
    end
    local port = job.ports[wanted.port]
    local other, there
    if owner then other, there = port_with(job, wanted.number, owner.placed[1].host, meeting_port) end
    if port and wanted.number > 0 and port.number ~= wanted.number then
      host.report("error", "conflict", wanted.place, ("%s = %d: the port %s that belongs to it has %s"):format(wanted.attribute, wanted.number,
                  wanted.port, port.number > 0 and "the number " .. port.number or "no number of its own"),
                  ('%s = "auto" takes the number of the port'):format(wanted.attribute), { { "port " .. wanted.port, port.place } })
    elseif other and other == meeting_port then
      host.report("error", "conflict", wanted.place, ("%s = %d: port %s has this number on the same host"):format(wanted.attribute, wanted.number,
                  other), nil, { { "port " .. other, there.place } })
    elseif owner and (not other or other == wanted.port) then
      port = port or { number = wanted.number, place = wanted.place }
      port.host, port.owner = owner.placed[1].host, owner.name .. ".0"
      job.ports[wanted.port] = port
    elseif not port and not owner and wanted.number == 0 then
      host.report("error", "contract_port", wanted.place,
                  ('%s = "auto": framework %s has no process that would listen there'):format(wanted.attribute, contract.name), "give a number")
    end
  end
end

return rendezvous
