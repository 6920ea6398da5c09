-- The job object, with which a recipe's plan function describes its processes. It checks and records; layout.lua and
-- the engine compute where processes run and what their environment contains.
local host, prelude, muster, fields, policies, addresses = ...

local NAMED_ROLE_OPTIONS = muster.field_names "role"  -- of job:role "name" { … }
local ROLE_OPTIONS = muster.field_names("role", "only", true)
local PORT_OPTIONS = muster.field_names "job:port"
local VISIBLE, ALL_VISIBLE = muster.field_words("role", "visible")
local SPREADS, ALL_SPREADS = muster.field_words("role", "spread")
-- Members that change the description of the job: not allowed after its processes are laid out.
local DESCRIBES = {}
for _, name in ipairs(muster.field_names("job", "describes")) do DESCRIBES[name] = true end
local PLAYS = { "other", "scheduler", "server", "worker" }

local function shown(value) return host.show(value) end

-- Checks a role's table and returns the role in the form of layout.lua.
local function read_role(job, name, plays, options, place)
  if type(options) ~= "table" then
    host.stop("type", place, ("role %s expects a table of options, got %s"):format(name, shown(options)))
  end
  muster.check_keys(options, plays and ROLE_OPTIONS or NAMED_ROLE_OPTIONS, "role " .. name, place)

  local role = { name = name, place = place, plays = plays or options.as or "other" }
  if not job.plays[role.plays] then
    local words = host.keys(job.plays)
    local last = table.remove(words)
    host.report("error", "enum", place, ("role %s: as must be \"%s\" or \"%s\", got %s"):format(name, table.concat(words, '", "'), last, shown(role.plays)),
                host.nearest(host.tostring(role.plays), host.keys(job.plays)))
    role.plays = "other"
  end
  local world = options.world
  if world ~= nil and not fields.is_name(world) then
    host.report("error", "format", place, ("role %s: world must be a name, got %s"):format(name, shown(world)))
    world = nil
  end
  role.world = world or (role.plays == "worker" and "worker" or "")

  for _, key in ipairs { "count", "per_host" } do
    if options[key] ~= nil and not fields.is_whole(options[key], 0) then
      host.report("error", "range", place, ("%s of role %s must be a whole number from 0 to 1000000, got %s"):format(key, name, shown(options[key])),
                  type(options[key]) == "string" and options[key]:match("^%d+$") and ("%s = %d"):format(key, tonumber(options[key])) or nil)
    else
      role[key] = options[key]
    end
  end
  if options.devices ~= nil and not fields.is_whole(options.devices, 0) then
    host.report("error", "range", place, ("devices of role %s must be a whole number per process, got %s"):format(name, shown(options.devices)))
  else
    role.devices = options.devices
  end
  if options.visible ~= nil and not muster.is_word(VISIBLE, options.visible) then
    host.report("error", "enum", place, ("visible of role %s must be %s, got %s"):format(name, ALL_VISIBLE, shown(options.visible)),
                "job: every device that the job holds on the host; own: only the process's own")
  else
    role.visible = options.visible
  end
  if options.spread ~= nil and not muster.is_word(SPREADS, options.spread) then
    host.report("error", "enum", place, ("spread of role %s must be %s, got %s"):format(name, ALL_SPREADS, shown(options.spread)))
  else
    role.spread = options.spread
  end
  if options.cwd ~= nil and type(options.cwd) ~= "string" then
    host.report("error", "type", place, ("cwd of role %s must be a path, got %s"):format(name, shown(options.cwd)))
  else
    role.cwd = options.cwd
  end
  if options.apply_context ~= nil and type(options.apply_context) ~= "boolean" then
    host.report("error", "type", place, ("apply_context of role %s must be true or false, got %s"):format(name, shown(options.apply_context)))
  else
    role.apply_context = options.apply_context
  end
  if options.each ~= nil and type(options.each) ~= "function" then
    host.report("error", "type", place, ("each of role %s must be a function, got %s"):format(name, shown(options.each)))
  else
    role.each = options.each
  end
  role.container = options.container  -- container.lua checks it, with the recipe's
  role.on_hosts = fields.read_hosts(options.on_hosts, place, name, job.cluster)
  role.ports = fields.read_ports(options.ports, place, name)
  for _, port in ipairs((job.contract.roles[role.plays] or {}).ports or {}) do fields.add_name(role.ports, port) end
  role.cores = fields.read_cores(options.cores, place, name)
  policies.read(options, role, place)
  role.env = options.env ~= nil and fields.read_variables(options.env, place, "env of role " .. name, {}) or {}
  if muster.contents(options.wrap, "a shell command") then
    host.report("error", "command", place, ("wrap of role %s is muster.shell"):format(name),
                "wrap is words put before a command, for example { \"strace\", \"-f\" }")
  elseif options.wrap ~= nil then
    local wrap = fields.read_command(options.wrap, place, "the wrap of " .. name)
    role.wrap = wrap and wrap.words
  end
  if options.command ~= nil then
    role.command = fields.read_command(options.command, place, name)
  elseif not options.each and not (job.contract.roles[role.plays] or {}).command then
    host.report("error", "command", place, ("role %s has no command"):format(name), 'command = { "program", "argument" }')
  end
  return role
end

-- Adds a file to the job and returns the path at which processes find it; `wanted` is the message for other types.
local function add_file(job, name, text, place, wanted)
  if type(name) ~= "string" or type(text) ~= "string" then host.stop("type", place, wanted) end
  if not name:match("^[%w_.-][%w_./-]*$") or ("/" .. name .. "/"):find("/%.%.?/") or name:find("//") then
    host.stop("format", place, ("%s is not a valid name for a file below the run directory"):format(shown(name)))
  end
  if job.files[name] then
    host.report("error", "duplicate", place, ("file %s is described twice"):format(name), nil, { { "first here", job.files[name].place } })
  end
  job.files[name] = { text = text, place = place }
  local path = host.hole("run_dir") .. "/files/" .. name
  if not host.tracks() then host.describe_file(path, text, place) end
  return path
end

-- A role's port exists once per process, a job's port once, so they must not have the same name. `only` is the new
-- name; without it all names are compared. The port of a contract's rendezvous endpoint is a port of the job, so a
-- recipe may fix its number.
local function refuse_same_ports(job, only)
  local meeting_port = (job.contract.meeting or {}).port
  for _, role in ipairs(job.roles) do
    for _, name in ipairs(role.ports) do
      if job.ports[name] and (only or name) == name and name ~= meeting_port then
        host.report("error", "duplicate", job.ports[name].place, ("port %s of the job has the name of a port of role %s"):format(name, role.name),
                    ('give one of them another name; job:address("%s", { port = "%s" }) is where the role listens'):format(role.name, name),
                    { { "role " .. role.name, role.place } })
      end
    end
  end
end

-- `contract` says which roles are allowed and which need no command; `progress` returns job.checkpoint and job.resume
-- (checkpoints.lua).
local function new_job(cluster, args, contract, progress)
  local job = { contract = contract, plays = {}, cluster = cluster, roles = {}, by_name = {}, named = {}, env = {}, activation = {},
                ports = {}, files = {}, derived = {}, addresses = {}, args_used = false }
  for _, word in ipairs(PLAYS) do job.plays[word] = true end
  for word in pairs(contract.roles) do job.plays[word] = true end
  local object = {}

  local function add(name, plays, options, place)
    local first = job.by_name[name]
    if first then
      host.stop("duplicate", place, ("role %s is described twice"):format(name), nil, { { "first here", first.place } })
    end
    local role = read_role(job, name, plays, options, place)
    job.by_name[name] = role
    job.roles[#job.roles + 1] = role
  end
  for method, plays in pairs { scheduler = "scheduler", servers = "server", workers = "worker" } do
    object[method] = function(self, options) add(plays, plays, options, host.here()) end
  end
  function object.role(self, name, options)
    local place = host.here()
    if not fields.is_name(name) or not name:match("^%a") then
      host.stop("format", place, "a role's name must be a letter, then letters, digits, '_' and '-', got " .. shown(name))
    end
    job.named[name] = job.named[name] or place
    if options ~= nil then return add(name, nil, options, place) end
    return function(options) add(name, nil, options, place) end
  end

  -- Reports and continues, as setters of the context do, so that one run shows every problem.
  function object.check(self, condition, message, ...)
    if condition then return end
    local place = host.here()
    if type(message) ~= "string" then
      host.stop("type", place, "job:check expects a condition and a message")
    end
    local formatted, text = pcall(string.format, message, host.exact_arguments(...))
    host.report("error", "check", place, formatted and text or message, nil,
                not formatted and { { "the message is not formatted: " .. host.tostring(text) .. " (a percent sign is written %%)", 0 } } or nil)
  end

  function object.derive(self, values)
    local place = host.here()
    if type(values) ~= "table" then host.stop("type", place, "job:derive expects a table, got " .. shown(values)) end
    local copied = {}
    for _, name in ipairs(host.sorted_keys(values)) do
      if type(name) ~= "string" then
        host.stop("type", place, "job:derive expects named values, got the key " .. shown(name))
      end
      if job.derived[name] then
        host.report("error", "duplicate", place, ("derived value %s is given twice"):format(name), nil, { { "first here", job.derived[name].place } })
      end
      local why = host.why_not_plain(values[name])
      if why then
        host.report("error", "type", place, ("derived value %s: %s"):format(name, why))
      else
        addresses.refuse_in(values[name], "derived value " .. name, place)
      end
      local value = host.derive(name, values[name], place)  -- the pinned value, if the user gave one
      job.derived[name] = { value = value, place = place }
      copied[name] = value
    end
    return prelude.read_only(copied, "the derived values")
  end

  function object.mesh(self, axes)
    local mesh = host.mesh(host.here(), axes)
    return prelude.read_only({
      size = host.mesh_size(mesh),
      coords = function(_, rank) return host.mesh_coords(host.here(), mesh, rank) end,
      rank = function(_, coords) return host.mesh_rank(host.here(), mesh, coords) end,
    }, "the mesh")
  end

  function object.env(self, variables)
    fields.read_variables(variables, host.here(), "job:env", job.env)
  end

  -- job:activate { source = "/opt/…/set_env.sh", module = { "cuda/12", … }, conda = "train" }: executed on every host
  -- before its first process, in this order and after the steps of earlier calls.
  function object.activate(self, steps)
    fields.read_activation(steps, host.here(), job.activation)
  end

  -- job:file { "train.yaml", text = "…" }: written below the run directory before anything starts; yaml = … or json = …
  -- writes a value.
  function object.file(self, file)
    local place = host.here()
    local wanted = 'job:file expects { "name", text = "…" }, or a value as yaml or json'
    if type(file) ~= "table" then host.stop("type", place, wanted) end
    muster.check_keys(file, muster.field_names "job:file", "job:file", place)
    local text = file.text
    for _, format in ipairs { "yaml", "json" } do
      if file[format] ~= nil then
        if text ~= nil then
          host.stop("conflict", place, ("file %s has more than one of text, yaml and json"):format(shown(file[1])), "give one of them")
        end
        -- The text of a file does not influence the judgement of a point, so reads of p in it are not recorded.
        host.pause_reads(true)
        local why = host.why_not_plain(file[format])
        if why then host.stop("type", place, ("file %s: %s: %s"):format(shown(file[1]), format, why)) end
        text = host.tracks() and "" or host[format .. "_text"](file[format])
        host.pause_reads(false)
      end
    end
    return add_file(job, file[1], text, place, wanted)
  end

  function object.port(self, name, options)
    local place = host.here()
    local wanted = options == nil and {} or options
    if not fields.is_name(name) then
      host.stop("format", place, "job:port expects a name of letters, digits, '_' and '-', got " .. shown(name))
    elseif type(wanted) ~= "table" then
      host.stop("type", place, ("port %s expects a table of options, got %s"):format(name, shown(wanted)),
                ('job:port("%s", { number = 9000 })'):format(name))
    end
    local number = wanted.number
    muster.check_keys(wanted, PORT_OPTIONS, "job:port", place)
    if number ~= nil and not fields.is_whole(number, 1, 65535) then
      host.stop("range", place, ("port %s: number must be from 1 to 65535, got %s"):format(name, shown(number)))
    end
    local known = job.ports[name]
    if known and number and known.number ~= number then
      host.report("error", "conflict", place, ("port %s has two numbers"):format(name), nil, { { "first here", known.place } })
    end
    if not known then
      local index = wanted.host or 0
      if not fields.is_whole(index, 0) or index >= cluster.hosts then
        host.stop("range", place, ("port %s: host must be from 0 to %d, got %s"):format(name, cluster.hosts - 1, shown(index)))
      end
      for _, other in ipairs(host.sorted_keys(job.ports)) do
        local there = job.ports[other]
        if number and there.number == number and there.host == index then
          host.report("error", "conflict", place, ("port %s has the number %d, as port %s has on the same host"):format(name, number, other), nil,
                      { { "port " .. other, there.place } })
        end
      end
      job.ports[name] = { number = number or 0, host = index, owner = "", place = place }
      if job.closed then refuse_same_ports(job, name) end
    end
    return host.hole("port", name)
  end

  -- job:address "data": the address and port of another role's process, known at the start.
  function object.address(self, name, options) return addresses.ask(job, name, options, host.here()) end

  -- job.workers { … } instead of job:workers { … } would lose the table, so it is reported.
  for name, method in pairs(object) do
    object[name] = function(self, ...)
      if self ~= job.object then
        host.stop("type", host.here(), ("job.%s is called with a dot"):format(name), ("write job:%s"):format(name))
      end
      return method(self, ...)
    end
  end
  object.run_dir = host.hole "run_dir"
  object.sweep = prelude.read_only({ id = host.hole("sweep", "id"), trial = host.hole("sweep", "trial"),
                                     attempt = host.hole("sweep", "attempt"), point = host.hole("sweep", "point") }, "job.sweep")
  object.cluster = prelude.read_only(cluster, "job.cluster")
  local names = host.keys(object)
  for _, name in ipairs { "args", "checkpoint", "resume" } do names[#names + 1] = name end
  job.object = setmetatable({}, {
    __index = function(_, key)
      if key == "args" then
        job.args_used = true
        return args
      end
      if key == "checkpoint" or key == "resume" then return progress(key) end
      local value = object[key]
      if job.closed and DESCRIBES[key] then
        host.stop("order", host.here(), ("job:%s cannot be called inside each"):format(key), "describe the job in the plan function itself")
      end
      if value == nil then
        host.stop("unknown_key", host.here(), ("there is no job.%s"):format(host.tostring(key)), host.suggest(host.tostring(key), names))
      end
      return value
    end,
    __newindex = function(_, key)
      host.stop("read_only", host.here(), ("job.%s cannot be set"):format(host.tostring(key)))
    end,
    __metatable = false,
  })
  return job
end

return { new = new_job, add_file = add_file, refuse_same_ports = refuse_same_ports }
