-- Addresses of processes: job:address returns a placeholder for the address and port of another role's process, before
-- that process is placed. Placement replaces it by the placeholders of the process's host address and port.
local host, muster, fields = ...

local OPTIONS = muster.field_names "job:address"
local PARTS, ALL_PARTS = muster.field_words("job:address", "part")
local MARK = "%${muster:address:(%d+)}"

local function shown(value) return host.show(value) end

local addresses = {}

-- Whether the text contains an address placeholder that has not been replaced yet.
local function has_address(text) return type(text) == "string" and text:find(MARK) ~= nil end

-- Reports an address in a plain value that no process receives.
function addresses.refuse_in(value, what, place)
  if has_address(value) then
    host.report("error", "hole", place, what .. " holds an address of job:address",
                "commands, variables, working directories and files of job:file can hold one")
  elseif type(value) == "table" and not host.raw_metatable(value) then
    for _, key in ipairs(host.sorted_keys(value)) do addresses.refuse_in(value[key], what, place) end
  end
end

-- The placeholder of the requested address; the role may be described later.
function addresses.ask(job, name, options, place)
  if type(name) ~= "string" then
    host.stop("type", place, "job:address expects the name of a role, got " .. shown(name), 'job:address "server"')
  end
  local what = ('job:address "%s"'):format(name)
  if options ~= nil and type(options) ~= "table" then
    host.stop("type", place, ("%s: the options must be a table, got %s"):format(what, shown(options)), ('job:address("%s", { index = 0 })'):format(name))
  end
  options = options or {}
  muster.check_keys(options, OPTIONS, "job:address", place)
  local asked = { role = name, what = what, index = options.index, port = options.port, part = options.part or muster.field_default("job:address", "part"),
                  place = place }
  if asked.index ~= nil and not fields.is_whole(asked.index, 0) then
    host.report("error", "range", place, ("%s: index must be a whole number from 0, got %s"):format(what, shown(asked.index)))
    asked.index = nil
  end
  if asked.port ~= nil and not fields.is_name(asked.port) then
    host.report("error", "format", place, ("%s: port must be the name of one of the role's ports, got %s"):format(what, shown(asked.port)))
    asked.port = nil
  end
  if not muster.is_word(PARTS, asked.part) then
    host.report("error", "enum", place, ("%s: part must be %s, got %s"):format(what, ALL_PARTS, shown(asked.part)), host.nearest(host.tostring(asked.part), PARTS))
    asked.part = "host"
  elseif asked.part == "host" and asked.port ~= nil then
    host.report("error", "conflict", place, ('%s: port = %s and part = "host" contradict each other'):format(what, shown(asked.port)), "leave out one of them")
  end
  if job.placed then return addresses.text_of(job, asked) end
  job.addresses[#job.addresses + 1] = asked
  return host.hole("address", #job.addresses)
end

local function report_no_role(job, asked)
  local names = {}
  for _, role in ipairs(job.roles) do names[#names + 1] = role.name end
  host.report("error", "roles", asked.place, ("%s: there is no role %s"):format(asked.what, shown(asked.role)), host.suggest(asked.role, names))
end

-- Reports requested roles that are neither described nor added by the contract.
function addresses.check_roles(job)
  for _, asked in ipairs(job.addresses) do
    if not job.by_name[asked.role] and not (job.contract.roles[asked.role] or {}).add then report_no_role(job, asked) end
  end
end

-- The number of the requested process, or nil after a report.
local function process_of(role, asked)
  local count = #role.placed
  if count == 0 then
    host.report("error", "roles", asked.place, ("%s: the role has no process"):format(asked.what), nil, { { "role " .. role.name, role.place } })
  elseif asked.index == nil and count > 1 then
    host.report("error", "missing", asked.place, ("%s: the role has %d processes"):format(asked.what, count),
                ('job:address("%s", { index = 0 }) is the first one'):format(role.name), { { "role " .. role.name, role.place } })
  elseif asked.index ~= nil and asked.index >= count then
    host.report("error", "range", asked.place, ("%s: index = %d, and the role has %s"):format(asked.what, asked.index,
                count == 1 and "one process, 0" or ("processes 0 to %d"):format(count - 1)), nil, { { "role " .. role.name, role.place } })
  else
    return asked.index or 0
  end
end

-- The name of the requested port, or nil after a report.
local function port_of(role, asked)
  local notes = { { "role " .. role.name, role.place } }
  if asked.port == nil and #role.ports == 1 then return role.ports[1] end
  if #role.ports == 0 then
    host.report("error", "missing", asked.place, ("%s: the role has no port"):format(asked.what),
                'ports = "rpc" in the role gives each of its processes one; part = "host" is the address of the host alone', notes)
    return nil
  elseif asked.port == nil then
    host.report("error", "missing", asked.place, ("%s: the role has the ports %s"):format(asked.what, table.concat(role.ports, ", ")),
                ('job:address("%s", { port = "%s" })'):format(role.name, role.ports[1]), notes)
    return nil
  end
  for _, name in ipairs(role.ports) do
    if name == asked.port then return name end
  end
  host.report("error", "unknown_key", asked.place, ("%s: the role has no port %s"):format(asked.what, shown(asked.port)),
              host.suggest(asked.port, role.ports), notes)
end

-- The address as placeholders that are filled at the start; needs the roles' placement. Empty after a report.
function addresses.text_of(job, asked)
  local role = job.by_name[asked.role]
  if not role then
    report_no_role(job, asked)
    return ""
  end
  local index = process_of(role, asked)
  local port = index and asked.part ~= "host" and port_of(role, asked)
  if not index or (not port and asked.part ~= "host") then return "" end
  local at = host.hole("host_address", role.placed[index + 1].host)
  local number = port and host.hole("port", ("%s.%d.%s"):format(role.name, index, port))
  return asked.part == "host" and at or asked.part == "port" and number or at .. ":" .. number
end

-- The text with all addresses replaced.
local function filled(job, text)
  return has_address(text) and text:gsub(MARK, function(number) return (job.addresses[tonumber(number)] or {}).text end) or text
end

local function fill_words(job, words)
  for i, word in ipairs(words or {}) do words[i] = filled(job, word) end
end

local function fill_variables(job, variables)
  for _, variable in pairs(variables) do variable.text = filled(job, variable.text) end
end

-- Replaces the addresses in what `each` has set for one process.
function addresses.fill_process(job, own)
  if #job.addresses == 0 then return end
  fill_words(job, own.command and own.command.words)
  fill_variables(job, own.env)
  own.cwd = filled(job, own.cwd)
end

-- Replaces all addresses in the job's description. Needs the roles' placement.
function addresses.settle(job)
  job.placed = true
  for _, asked in ipairs(job.addresses) do asked.text = addresses.text_of(job, asked) end
  host.stop_if_errors()
  if #job.addresses == 0 then return end
  fill_variables(job, job.env)
  for _, role in ipairs(job.roles) do
    fill_words(job, role.command and role.command.words)
    fill_words(job, role.wrap)
    if role.ready then
      fill_words(job, role.ready.command)
      role.ready.what = filled(job, role.ready.what)
    end
    fill_variables(job, role.env)
    role.cwd = filled(job, role.cwd)
    if role.container then
      role.container.image = filled(job, role.container.image)
      fill_words(job, role.container.options)
    end
  end
  for _, file in pairs(job.files) do file.text = filled(job, file.text) end
end

return addresses
