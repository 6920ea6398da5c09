-- The job object: what a recipe's plan function describes its processes with. It checks and remembers; where
-- processes run and what their environment becomes is layout.lua's and the engine's.
local host, prelude, muster, policies, parameters = ...

local ROLE_OPTIONS = { "count", "per_host", "command", "env", "cwd", "devices", "visible", "spread", "hosts", "ports", "each",
                       "apply_context", "wrap", "cores" }
local ROLE_ONLY_OPTIONS = { "as", "world" }  -- of job:role "name" { … }
-- What changes the description of the job: only before its processes are laid out.
local DESCRIBES = { scheduler = true, servers = true, workers = true, role = true, env = true, activate = true, file = true,
                    derive = true }
local PLAYS = { "other", "scheduler", "server", "worker" }

local function shown(value) return host.show(value) end

local function is_count(value, least)
  return type(value) == "number" and value >= least and value <= 1000000 and value % 1 == 0
end

-- Names that become parts of paths and holes.
local function is_name(value)
  return type(value) == "string" and #value <= 100 and value:match("^[%w_-]+$") ~= nil
end

-- Words of a command: lists inside lists are flattened, false is skipped; true and a hole are mistakes.
local function flatten(words, place, role, into, depth)
  if depth > 16 then
    host.stop("command", place, ("the command of %s has lists nested too deeply, or a list that contains itself"):format(role))
  end
  local count = 0
  for _, key in ipairs(host.sorted_keys(words)) do
    if type(key) ~= "number" then
      host.report("error", "command", place, ("the command of %s has a key %s; a command is a list"):format(role, shown(key)))
    elseif key == count + 1 then
      count = key
    else
      host.report("error", "command", place, ("the command of %s has a hole: word %d is nil"):format(role, count + 1),
                  "write false for a word that is to be left out")
      break
    end
  end
  for i = 1, count do
    local word = rawget(words, i)
    local what = ("word %d of the command of %s"):format(i, role)
    if muster.contents(word, "a shell command") then
      host.report("error", "command", place, what .. " is muster.shell", 'a shell command stands alone: command = muster.shell "…"')
    elseif parameters.view_of(word) then
      host.report("error", "command", place, ("%s is a block of parameters"):format(what),
                  parameters.view_of(word).variant and ("p.%s.variant is the name of the variant; muster.flags(p) gives flags"):format(parameters.view_of(word).name)
                  or "muster.flags(p) gives flags")
    elseif type(word) == "table" then
      flatten(word, place, role, into, depth + 1)
    elseif word == true then
      host.report("error", "command", place, what .. " is true", 'write what true stands for: flag and "--flag"')
    elseif word ~= false then
      local text = host.text(word)
      if not text then
        host.report("error", "command", place, ("%s is %s"):format(what, shown(word)), "a command is a list of strings and numbers")
      else
        into[#into + 1] = text
      end
    end
  end
  return into
end

-- The command as { words = {…} }, or nil after a report.
local function read_command(command, place, role)
  local shell = muster.contents(command, "a shell command")
  if shell then return { words = { "/bin/sh", "-c", shell.text } } end
  if type(command) ~= "table" then
    host.report("error", "command", place, ("the command of %s is a list of words, got %s"):format(role, shown(command)),
                'write { "program", "argument" }, or muster.shell "…" for a shell')
    return nil
  end
  local words = flatten(command, place, role, {}, 1)
  if #words == 0 then
    host.report("error", "command", place, ("the command of %s is empty"):format(role))
    return nil
  end
  return { words = words }
end

local sound_names = {}  -- a few names come for every process
local function is_variable_name(name)
  if type(name) ~= "string" then return false end
  if not sound_names[name] then sound_names[name] = name ~= "" and not name:find("=", 1, true) and host.is_text(name) end
  return sound_names[name]
end

-- One variable into { [name] = { text = "…" | unset = true, override = bool, place } }.
local function read_variable(name, value, override, place, what, into)
  if not is_variable_name(name) then
    host.report("error", "variable", place, ("%s: %s is no name of a variable"):format(what, shown(name)))
  elseif muster.contents(value, "muster.unset") then
    into[name] = { unset = true, override = override, place = place }
  else
    local text = host.text(value)
    if text and not host.is_text(text) then
      host.report("error", "text", place, ("%s: %s is not valid UTF-8 without NUL: %s"):format(what, name, shown(value)))
    elseif text then
      into[name] = { text = text, override = override, place = place }
    else
      host.report("error", "variable", place, ("%s: %s is a string or a number, got %s"):format(what, name, shown(value)),
                  type(value) == "boolean" and 'write "1" or "0", or whatever the program expects' or nil)
    end
  end
end

-- A table of variables, all into `into`.
local function read_variables(table, place, what, into)
  if type(table) ~= "table" then
    host.report("error", "type", place, ("%s is a table of variables, got %s"):format(what, shown(table)))
    return into
  end
  local override = rawget(table, "override") == true
  for _, name in ipairs(host.sorted_keys(table)) do
    local value = table[name]
    if not (name == "override" and type(value) == "boolean") then
      read_variable(name, value, override, place, what, into)
    end
  end
  return into
end

-- Kinds in the order in which those of one call are done. One conda environment replaces another.
local ACTIVATION = { "source", "module", "conda" }
local ONE_ONLY = { conda = true }

-- One step into `into`; what becomes an argument of a shell's command must be no option of it.
local function read_step(kind, what, place, into)
  local function refuse(error_kind, why, hint)
    host.report("error", error_kind, place, ("job:activate: %s %s"):format(kind, why), hint)
  end
  if type(what) ~= "string" then
    refuse("type", ("is %s, got %s"):format(kind == "source" and "the path of a file" or "a name", shown(what)))
  elseif not host.is_text(what) then
    refuse("text", "is not valid UTF-8 without NUL: " .. shown(what))
  elseif what:find("${muster:", 1, true) then
    refuse("activation", shown(what) .. " is known only when the job starts, after the activation",
           'muster.here "set_env.sh" names a file beside the recipe')
  elseif kind == "source" and what:sub(1, 1) ~= "/" then
    refuse("activation", shown(what) .. " is no path from / on", 'muster.here "set_env.sh" names a file beside the recipe')
  elseif what == "" or what:sub(1, 1) == "-" or #what > 4096 then
    refuse("activation", shown(what) .. " is no name", "a name is not empty and does not begin with '-'")
  else
    into[#into + 1] = { kind = kind, what = what, place = place }
  end
end

-- The steps of one call into `into`; false is skipped, as in a command.
local function read_activation(steps, place, into)
  if type(steps) ~= "table" then
    host.stop("type", place, "job:activate wants a table, got " .. shown(steps),
              'job:activate { source = "/opt/set_env.sh", module = { "cuda/12" }, conda = "train" }')
  end
  muster.check_keys(steps, ACTIVATION, "job:activate", place)
  for _, kind in ipairs(ACTIVATION) do
    local list = steps[kind]
    if list ~= nil then
      if type(list) ~= "table" or ONE_ONLY[kind] then list = { list } end
      for position, key in ipairs(host.sorted_keys(list)) do
        if key ~= position then
          host.report("error", "type", place, ("job:activate: %s is a list, got the key %s where %d is next"):format(kind, shown(key), position))
          break
        end
        if list[key] ~= false then read_step(kind, list[key], place, into) end
      end
    end
  end
  if #host.sorted_keys(steps) == 0 then
    host.report("error", "missing", place, "job:activate names nothing", "source, module and conda are what there is")
  end
end

local function read_hosts(hosts, place, role, cluster)
  if hosts == nil then return nil end
  local list = type(hosts) == "number" and { hosts } or hosts
  if type(list) ~= "table" then
    host.report("error", "type", place, ("hosts of %s is a list of host numbers from 0, got %s"):format(role, shown(hosts)))
    return nil
  end
  local hosts_of_role = {}
  for i, index in ipairs(list) do
    if not is_count(index, 0) or index >= cluster.hosts then
      host.report("error", "range", place, ("hosts of %s: %s is no host; there are hosts 0 to %d"):format(role, shown(index), cluster.hosts - 1))
      return nil
    end
    hosts_of_role[i] = index
  end
  if #hosts_of_role == 0 then
    host.report("error", "range", place, ("hosts of %s is empty"):format(role), "leave it out, and the role may use every host")
    return nil
  end
  return hosts_of_role
end

local function read_ports(ports, place, role)
  if ports == nil then return {} end
  local list = type(ports) == "string" and { ports } or ports
  if type(list) ~= "table" then
    host.report("error", "type", place, ("ports of %s is a list of names, got %s"):format(role, shown(ports)))
    return {}
  end
  local names = {}
  for _, name in ipairs(list) do
    if is_name(name) then
      names[#names + 1] = name
    else
      host.report("error", "format", place, ("ports of %s: %s is no name for a port"):format(role, shown(name)))
    end
  end
  return names
end

-- cores = "auto", a number for each process, or "0-7,16-23" for all of them: { kind, number or list }, or nil.
local function read_cores(cores, place, role)
  if cores == nil then return nil end
  if cores == "auto" then return { "auto" } end
  if is_count(cores, 1) and cores <= 65536 then return { "count", cores } end
  local list = type(cores) == "string" and host.number_list(cores)
  if list then return { "list", list } end
  host.report("error", type(cores) == "string" and "format" or "type", place,
              ("cores of role %s is \"auto\", a number for each process or a list, got %s"):format(role, shown(cores)),
              'cores = "auto", cores = 4 or cores = "0-7,16-23"')
end

-- Checks a role's table and gives the role as layout.lua wants it.
local function read_role(job, name, plays, options, place)
  if type(options) ~= "table" then
    host.stop("type", place, ("role %s wants a table of options, got %s"):format(name, shown(options)))
  end
  local known = {}
  for _, option in ipairs(ROLE_OPTIONS) do known[#known + 1] = option end
  for _, option in ipairs(policies.OPTIONS) do known[#known + 1] = option end
  if not plays then
    for _, option in ipairs(ROLE_ONLY_OPTIONS) do known[#known + 1] = option end
  end
  muster.check_keys(options, known, "role " .. name, place)

  local role = { name = name, place = place, plays = plays or options.as or "other" }
  if not job.plays[role.plays] then
    local words = host.keys(job.plays)
    local last = table.remove(words)
    host.report("error", "enum", place, ("role %s: as is \"%s\" or \"%s\", got %s"):format(name, table.concat(words, '", "'), last, shown(role.plays)),
                host.nearest(host.tostring(role.plays), host.keys(job.plays)))
    role.plays = "other"
  end
  local world = options.world
  if world ~= nil and not is_name(world) then
    host.report("error", "format", place, ("role %s: world is a name, got %s"):format(name, shown(world)))
    world = nil
  end
  role.world = world or (role.plays == "worker" and "worker" or "")

  for _, key in ipairs { "count", "per_host" } do
    if options[key] ~= nil and not is_count(options[key], 0) then
      host.report("error", "range", place, ("%s of role %s is a whole number from 0 to 1000000, got %s"):format(key, name, shown(options[key])))
    else
      role[key] = options[key]
    end
  end
  if options.count ~= nil and options.per_host ~= nil then
    host.report("error", "conflict", place, ("role %s has both count and per_host"):format(name), "give one of them")
  end
  if options.devices ~= nil and not is_count(options.devices, 0) then
    host.report("error", "range", place, ("devices of role %s is a whole number per process, got %s"):format(name, shown(options.devices)))
  else
    role.devices = options.devices
  end
  if options.visible ~= nil and options.visible ~= "own" and options.visible ~= "job" then
    host.report("error", "enum", place, ("visible of role %s is \"job\" or \"own\", got %s"):format(name, shown(options.visible)),
                "job: every device that the job holds on the host; own: only the process's own")
  else
    role.visible = options.visible
  end
  if options.spread ~= nil and options.spread ~= "pack" and options.spread ~= "deal" then
    host.report("error", "enum", place, ("spread of role %s is \"pack\" or \"deal\", got %s"):format(name, shown(options.spread)))
  else
    role.spread = options.spread
  end
  if options.cwd ~= nil and type(options.cwd) ~= "string" then
    host.report("error", "type", place, ("cwd of role %s is a path, got %s"):format(name, shown(options.cwd)))
  else
    role.cwd = options.cwd
  end
  if options.apply_context ~= nil and type(options.apply_context) ~= "boolean" then
    host.report("error", "type", place, ("apply_context of role %s is true or false, got %s"):format(name, shown(options.apply_context)))
  else
    role.apply_context = options.apply_context
  end
  if options.each ~= nil and type(options.each) ~= "function" then
    host.report("error", "type", place, ("each of role %s is a function, got %s"):format(name, shown(options.each)))
  else
    role.each = options.each
  end
  role.hosts = read_hosts(options.hosts, place, name, job.cluster)
  role.ports = read_ports(options.ports, place, name)
  for _, port in ipairs((job.contract.roles[role.plays] or {}).ports or {}) do role.ports[#role.ports + 1] = port end
  role.cores = read_cores(options.cores, place, name)
  policies.read(options, role, place, read_command)
  role.env = options.env ~= nil and read_variables(options.env, place, "env of role " .. name, {}) or {}
  if muster.contents(options.wrap, "a shell command") then
    host.report("error", "command", place, ("wrap of role %s is muster.shell"):format(name),
                "wrap is words put before a command, for example { \"strace\", \"-f\" }")
  elseif options.wrap ~= nil then
    local wrap = read_command(options.wrap, place, "the wrap of " .. name)
    role.wrap = wrap and wrap.words
  end
  if options.command ~= nil then
    role.command = read_command(options.command, place, name)
  elseif not options.each and not (job.contract.roles[role.plays] or {}).command then
    host.report("error", "command", place, ("role %s has no command"):format(name), 'command = { "program", "argument" }')
  end
  return role
end

-- Takes a file into the job and gives the path at which processes find it; `wanted` is what is said of other types.
local function add_file(job, name, text, place, wanted)
  if type(name) ~= "string" or type(text) ~= "string" then host.stop("type", place, wanted) end
  if not name:match("^[%w_.-][%w_./-]*$") or ("/" .. name .. "/"):find("/%.%.?/") or name:find("//") then
    host.stop("format", place, ("%s is no name for a file below the run directory"):format(shown(name)))
  end
  if job.files[name] then
    host.report("error", "duplicate", place, ("file %s is described twice"):format(name), nil, { { "first here", job.files[name].place } })
  end
  job.files[name] = { text = text, place = place }
  return host.hole("run_dir") .. "/files/" .. name
end

-- `contract` says what a role may be, and which may go without a command; `progress` is that of checkpoints.lua.
local function new_job(cluster, args, contract, progress)
  local job = { contract = contract, plays = {}, cluster = cluster, roles = {}, by_name = {}, named = {}, env = {}, activation = {},
                ports = {}, files = {}, derived = {}, args_used = false }
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
  function object.role(self, name)
    local place = host.here()
    if not is_name(name) or not name:match("^%a") then
      host.stop("format", place, "a role's name is a letter, then letters, digits, '_' and '-', got " .. shown(name))
    end
    job.named[name] = job.named[name] or place
    return function(options) add(name, nil, options, place) end
  end

  -- A setter like those of the context: reports and goes on, so that one run shows every problem.
  function object.check(self, condition, message, ...)
    if condition then return end
    local place = host.here()
    if type(message) ~= "string" then
      host.stop("type", place, "job:check wants a condition and a message")
    end
    local formatted, text = pcall(string.format, message, host.exact_arguments(...))
    host.report("error", "check", place, formatted and text or message, nil,
                not formatted and { { "the message is not formatted: " .. host.tostring(text) .. " (a percent sign is written %%)", 0 } } or nil)
  end

  function object.derive(self, values)
    local place = host.here()
    if type(values) ~= "table" then host.stop("type", place, "job:derive wants a table, got " .. shown(values)) end
    local copied = {}
    for _, name in ipairs(host.sorted_keys(values)) do
      if type(name) ~= "string" then
        host.stop("type", place, "job:derive wants named values, got the key " .. shown(name))
      end
      if job.derived[name] then
        host.report("error", "duplicate", place, ("derived value %s is given twice"):format(name), nil, { { "first here", job.derived[name].place } })
      end
      local why = host.why_not_plain(values[name])
      if why then host.report("error", "type", place, ("derived value %s: %s"):format(name, why)) end
      local value = host.derive(name, values[name], place)  -- what the user pinned it to, if they did
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
    read_variables(variables, host.here(), "job:env", job.env)
  end

  -- job:activate { source = "/opt/…/set_env.sh", module = { "cuda/12", … }, conda = "train" }: done on every host, in this
  -- order and after those of earlier calls, before its first process.
  function object.activate(self, steps)
    read_activation(steps, host.here(), job.activation)
  end

  -- job:file { "train.yaml", text = "…" }: written below the run directory before anything starts; a value is rendered by
  -- yaml = … or json = ….
  function object.file(self, file)
    local place = host.here()
    local wanted = 'job:file wants { "name", text = "…" }, or a value as yaml or json'
    if type(file) ~= "table" then host.stop("type", place, wanted) end
    muster.check_keys(file, { 1, "text", "yaml", "json" }, "job:file", place)
    local text = file.text
    for _, format in ipairs { "yaml", "json" } do
      if file[format] ~= nil then
        if text ~= nil then
          host.stop("conflict", place, ("file %s has more than one of text, yaml and json"):format(shown(file[1])), "give one of them")
        end
        -- Of a point that is judged the text decides nothing: p may be in it without having been looked at.
        host.pause_reads(true)
        local why = host.why_not_plain(file[format])
        if why then host.stop("type", place, ("file %s: %s: %s"):format(shown(file[1]), format, why)) end
        text = host.tracks() and "" or host[format .. "_text"](file[format])
        host.pause_reads(false)
      end
    end
    return add_file(job, file[1], text, place, wanted)
  end

  function object.port(self, port)
    local place = host.here()
    local fields = type(port) == "table" and port or { port }
    local name, number = fields[1], fields.number
    if not is_name(name) then
      host.stop("format", place, "job:port wants a name of letters, digits, '_' and '-', got " .. shown(name))
    end
    muster.check_keys(fields, { 1, "number", "host" }, "job:port", place)
    if number ~= nil and not (is_count(number, 1) and number <= 65535) then
      host.stop("range", place, ("port %s: number is 1 to 65535, got %s"):format(name, shown(number)))
    end
    local known = job.ports[name]
    if known and number and known.number ~= number then
      host.report("error", "conflict", place, ("port %s has two numbers"):format(name), nil, { { "first here", known.place } })
    end
    if not known then
      local index = fields.host or 0
      if not is_count(index, 0) or index >= cluster.hosts then
        host.stop("range", place, ("port %s: host is 0 to %d, got %s"):format(name, cluster.hosts - 1, shown(index)))
      end
      for _, other in ipairs(host.sorted_keys(job.ports)) do
        local there = job.ports[other]
        if number and there.number == number and there.host == index then
          host.report("error", "conflict", place, ("port %s has the number %d, as port %s has on the same host"):format(name, number, other), nil,
                      { { "port " .. other, there.place } })
        end
      end
      job.ports[name] = { number = number or 0, host = index, owner = "", place = place }
    end
    return host.hole("port", name)
  end

  -- job.workers { … } instead of job:workers { … } would lose the table.
  for name, method in pairs(object) do
    object[name] = function(self, ...)
      if self ~= job.object then
        host.stop("type", host.here(), ("job.%s is called with a dot"):format(name), ("write job:%s"):format(name))
      end
      return method(self, ...)
    end
  end
  object.run_dir = host.hole "run_dir"
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

return { new = new_job, add_file = add_file, read_command = read_command, read_ports = read_ports, read_variable = read_variable, read_variables = read_variables }
