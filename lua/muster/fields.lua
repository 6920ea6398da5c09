-- Reads and checks the fields of processes and roles one at a time: commands, variables, steps of an activation, host
-- numbers, ports, cores. Contracts and `each` have the same fields as roles. Roles and jobs as a whole are read in
-- job.lua.
local host, muster, parameters = ...

local function shown(value) return host.show(value) end

local function is_whole(value, least, most)
  return type(value) == "number" and value >= least and value <= (most or 1000000) and value % 1 == 0
end

-- Names that become parts of paths and placeholders.
local function is_name(value)
  return type(value) == "string" and #value <= 100 and value:match("^[%w_-]+$") ~= nil
end

-- Words of a command: lists inside lists are flattened, false is skipped; true and a placeholder are errors.
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
      host.report("error", "command", place, ("the command of %s: word %d is nil"):format(role, count + 1),
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
    host.report("error", "command", place, ("the command of %s must be a list of words, got %s"):format(role, shown(command)),
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

local sound_names = {}  -- cache of checked names: the same few names are set for every process
local function is_variable_name(name)
  if type(name) ~= "string" then return false end
  if not sound_names[name] then sound_names[name] = name ~= "" and not name:find("=", 1, true) and host.is_text(name) end
  return sound_names[name]
end

-- Adds one variable to { [name] = { text = "…" | unset = true, override = bool, place } }.
local function read_variable(name, value, override, place, what, into)
  if not is_variable_name(name) then
    host.report("error", "variable", place, ("%s: %s is not a variable name"):format(what, shown(name)),
                type(name) == "number" and "NAME = VALUE for each variable" or nil)
  elseif muster.contents(value, "muster.unset") then
    into[name] = { unset = true, override = override, place = place }
  else
    local text = host.text(value)
    if text and not host.is_text(text) then
      host.report("error", "text", place, ("%s: %s is not valid UTF-8 without NUL: %s"):format(what, name, shown(value)))
    elseif text then
      into[name] = { text = text, override = override, place = place }
    else
      host.report("error", "variable", place, ("%s: %s must be a string or a number, got %s"):format(what, name, shown(value)),
                  type(value) == "boolean" and 'write "1" or "0", or whatever the program expects' or nil)
    end
  end
end

-- Adds all variables of a table.
local function read_variables(table, place, what, into)
  if type(table) ~= "table" then
    host.report("error", "type", place, ("%s must be a table of variables, got %s"):format(what, shown(table)))
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

-- The kinds of steps, in the order in which the steps of one call are executed. One conda environment replaces another.
local ACTIVATION = muster.field_names "job:activate"
local ONE_ONLY = { conda = true }

-- Adds one step. An argument of a shell command must not look like an option of it.
local function read_step(kind, what, place, into)
  local function refuse(error_kind, why, hint)
    host.report("error", error_kind, place, ("job:activate: %s %s"):format(kind, why), hint)
  end
  if type(what) ~= "string" then
    refuse("type", ("must be %s, got %s"):format(kind == "source" and "the path of a file" or "a name", shown(what)))
  elseif not host.is_text(what) then
    refuse("text", "is not valid UTF-8 without NUL: " .. shown(what))
  elseif what:find("${muster:", 1, true) then
    refuse("activation", shown(what) .. " is known only when the job starts, after the activation",
           'muster.here "set_env.sh" names a file beside the recipe')
  elseif kind == "source" and what:sub(1, 1) ~= "/" then
    refuse("activation", shown(what) .. " is not a path from / on", 'muster.here "set_env.sh" names a file beside the recipe')
  elseif what == "" or what:sub(1, 1) == "-" or #what > 4096 then
    refuse("activation", shown(what) .. " is no name", "a name is not empty and does not begin with '-'")
  else
    into[#into + 1] = { kind = kind, what = what, place = place }
  end
end

-- Adds the steps of one call; false is skipped, as in a command.
local function read_activation(steps, place, into)
  if type(steps) ~= "table" then
    host.stop("type", place, "job:activate expects a table, got " .. shown(steps),
              'job:activate { source = "/opt/set_env.sh", module = { "cuda/12" }, conda = "train" }')
  end
  muster.check_keys(steps, ACTIVATION, "job:activate", place)
  for _, kind in ipairs(ACTIVATION) do
    local list = steps[kind]
    if list ~= nil then
      if type(list) ~= "table" or ONE_ONLY[kind] then list = { list } end
      for position, key in ipairs(host.sorted_keys(list)) do
        if key ~= position then
          host.report("error", "type", place, ("job:activate: %s must be a list, got the key %s where %d is next"):format(kind, shown(key), position))
          break
        end
        if list[key] ~= false then read_step(kind, list[key], place, into) end
      end
    end
  end
  if #host.sorted_keys(steps) == 0 then
    host.report("error", "missing", place, "job:activate has no steps", "steps are source, module and conda")
  end
end

local function read_hosts(hosts, place, role, cluster)
  if hosts == nil then return nil end
  local list = type(hosts) == "number" and { hosts } or hosts
  if type(list) ~= "table" then
    host.report("error", "type", place, ("on_hosts of %s must be a list of host numbers from 0, got %s"):format(role, shown(hosts)),
                "on_hosts = { 0, 1 }; hosts are named by cluster.host_list or on the command line")
    return nil
  end
  local hosts_of_role = {}
  for i, index in ipairs(list) do
    if not is_whole(index, 0) or index >= cluster.hosts then
      host.report("error", "range", place, ("on_hosts of %s: %s is no host; there are hosts 0 to %d"):format(role, shown(index), cluster.hosts - 1))
      return nil
    end
    hosts_of_role[i] = index
  end
  if #hosts_of_role == 0 then
    host.report("error", "range", place, ("on_hosts of %s is empty"):format(role), "leave it out, and the role may use every host")
    return nil
  end
  return hosts_of_role
end

-- Adds a name unless it is there: the same name is the same port.
local function add_name(names, name)
  for _, known in ipairs(names) do
    if known == name then return end
  end
  names[#names + 1] = name
end

local function read_ports(ports, place, role)
  if ports == nil then return {} end
  local list = type(ports) == "string" and { ports } or ports
  if type(list) ~= "table" then
    host.report("error", "type", place, ("ports of %s must be a list of names, got %s"):format(role, shown(ports)))
    return {}
  end
  local names = {}
  for _, name in ipairs(list) do
    if is_name(name) then
      add_name(names, name)
    else
      host.report("error", "format", place, ("ports of %s: %s is not a valid name for a port"):format(role, shown(name)))
    end
  end
  return names
end

-- cores = "auto", a number for each process, or "0-7,16-23" for all of them: { kind, number or list }, or nil.
local function read_cores(cores, place, role)
  if cores == nil then return nil end
  if cores == "auto" then return { "auto" } end
  if is_whole(cores, 1, 65536) then return { "count", cores } end
  local list = type(cores) == "string" and host.number_list(cores)
  if list then return { "list", list } end
  host.report("error", type(cores) == "string" and "format" or "type", place,
              ("cores of role %s must be \"auto\", a number for each process or a list, got %s"):format(role, shown(cores)),
              'cores = "auto", cores = 4 or cores = "0-7,16-23"')
end

return { is_whole = is_whole, is_name = is_name, add_name = add_name, read_command = read_command, read_variable = read_variable, read_variables = read_variables,
         read_activation = read_activation, read_hosts = read_hosts, read_ports = read_ports, read_cores = read_cores }
