-- The policy of a role: when its processes start (after), when they count as ready, when they are
-- restarted (restart), how long they may run (limits), how large their logs may become (logs), how
-- they are stopped (stop) and when the role is done (done). Reads and checks; the supervisor executes
-- it.
local host, muster, fields = ...

local function shown(value) return host.show(value) end

local function want_table(value, place, what, example)
  if type(value) == "table" then return true end
  host.report("error", "type", place, ("%s must be %s, got %s"):format(what, example, shown(value)))
  return false
end

-- A duration in milliseconds, or nil: not given, or reported as an error.
local function duration(value, place, what)
  if value == nil then return nil end
  local ms = host.duration_ms(value)
  if not ms or ms <= 0 or ms > 1e12 then
    host.report("error", "format", place, ("%s must be a duration such as \"10s\" or \"1h30m\", got %s"):format(what, shown(value)),
                host.duration_hint(value))
    return nil
  end
  return math.ceil(ms)
end

-- "SIGTERM" and "TERM" -> "TERM", or nil.
local function signal_name(value)
  if type(value) ~= "string" or not host.is_signal(value) then return nil end
  return (value:gsub("^SIG", ""))
end

local function read_stop(stop, place, role)
  if stop == nil or not want_table(stop, place, "stop of " .. role, '{ signal = "TERM", grace = "10s" }') then return nil end
  muster.check_keys(stop, muster.field_names "stop", "stop of " .. role, place)
  local signal = signal_name(stop.signal)
  if stop.signal ~= nil and not signal then
    host.report("error", "enum", place, ("stop of %s: %s is no signal"):format(role, shown(stop.signal)), 'for example "TERM" or "INT"')
  end
  local grace = stop.grace ~= nil and host.duration_ms(stop.grace) or nil
  if stop.grace ~= nil and grace == nil then
    host.report("error", "format", place, ("stop of %s: grace must be a duration such as \"10s\", got %s"):format(role, shown(stop.grace)),
                host.duration_hint(stop.grace))
  end
  return { signal = signal, grace_ms = grace }
end

-- Names of roles that must be ready first; resolved when all roles are known.
local function read_after(after, place, role)
  if after == nil then return {} end
  local list = type(after) == "string" and { after } or after
  if not want_table(list, place, "after of role " .. role, 'a list of roles, for example { "scheduler" }') then return {} end
  local names = {}
  for i, name in ipairs(list) do
    if type(name) ~= "string" then
      host.report("error", "type", place, ("after of role %s must name a role, got %s"):format(role, shown(name)))
    else
      names[#names + 1] = name
    end
  end
  return names
end

local READY_KINDS = muster.field_names("ready", "kind")
local READY_TIMEOUT_MS = host.duration_ms(muster.field_default("ready", "timeout"))
local READY_EVERY_MS = host.duration_ms(muster.field_default("ready", "every"))

local function read_ready(ready, place, role, ports)
  if ready == nil then return nil end
  local what = "ready of role " .. role
  if not want_table(ready, place, what, '{ port = "rpc" }, { file = "path" }, { line = "text" }, { command = { … } } or { done = true }') then return nil end
  muster.check_keys(ready, muster.field_names "ready", what, place)
  local kind
  for _, each in ipairs(READY_KINDS) do
    if ready[each] ~= nil and kind then
      host.report("error", "conflict", place, ("%s has both %s and %s"):format(what, kind, each), "give one of them")
      return nil
    end
    if ready[each] ~= nil then kind = each end
  end
  if not kind then
    -- A misspelt kind has been reported already.
    for _, key in ipairs(host.sorted_keys(ready)) do
      if key ~= "timeout" and key ~= "every" then return nil end
    end
    host.report("error", "missing", place, what .. " has no condition to wait for", 'one of port, file, line, command and done')
    return nil
  end
  local read = { kind = kind, timeout_ms = duration(ready.timeout, place, "timeout of " .. what) or READY_TIMEOUT_MS,
                 every_ms = duration(ready.every, place, "every of " .. what) or READY_EVERY_MS }
  if ready.every ~= nil and kind ~= "command" then
    host.report("error", "conflict", place, ("%s has every, and waits for a %s"):format(what, kind), "every is the interval at which a command is tried")
  end
  local value = ready[kind]
  if kind == "done" then
    if value ~= true then host.report("error", "type", place, ("%s: done must be true, got %s"):format(what, shown(value))) end
  elseif kind == "command" then
    local command = fields.read_command(value, place, what)
    if not command then return nil end
    read.command = command.words
  elseif kind == "port" then
    for _, name in ipairs(ports) do read.own_port = read.own_port or (name == value and name or nil) end
    if fields.is_whole(value, 1, 65535) then
      read.what = ("%d"):format(value)
    elseif type(value) == "string" and value:find("^%${muster:port:[^}]+}$") then
      read.what = value
    elseif not read.own_port then
      host.report("error", "format", place, ("%s: port must be one of the role's ports, a job:port or a number, got %s"):format(what, shown(value)),
                  type(value) == "string" and host.suggest(value, ports) or nil)
      return nil
    end
  else
    if type(value) ~= "string" or value == "" or not host.is_text(value) or (kind == "line" and value:find("\n", 1, true)) then
      host.report("error", "format", place, ("%s: %s must be a text, got %s"):format(what, kind, shown(value)))
      return nil
    end
    read.what = value
  end
  return read
end

local SCOPES, ALL_SCOPES = muster.field_words("restart", "scope")

-- on = "failure" | "always" | list of exit codes, names of signals and the word "success"
local function read_on(on, place, what, read)
  if on == nil or on == "failure" then
    read.any_failure = true
  elseif on == "always" then
    read.any_failure, read.success = true, true
  else
    local list = type(on) == "table" and on or { on }
    if #list == 0 then
      host.report("error", "range", place, what .. ": on is empty", 'on = "failure", "always" or a list of exit codes and signals')
    end
    for _, ending in ipairs(list) do
      local signal = signal_name(ending)
      if ending == "failure" then
        read.any_failure = true
      elseif ending == "success" then
        read.success = true
      elseif fields.is_whole(ending, 1, 255) then
        read.codes[#read.codes + 1] = ending
      elseif signal then
        read.signals[#read.signals + 1] = signal
      else
        host.report("error", "enum", place, ("%s: %s is not an outcome"):format(what, shown(ending)),
                    'on = "failure", "always", or a list of exit codes 1 to 255, names of signals and "success"')
      end
    end
  end
end

local VERDICT_MAX = 100  -- restarts if only verdicts limit them (muster docs verdicts)

local function read_restart(restart, place, role)
  if restart == nil then return nil end
  local what = "restart of role " .. role
  if type(restart) == "number" then restart = { max = restart } end
  if restart == "verdict" then restart = { verdict = true } end
  if not want_table(restart, place, what, '{ max = 3, within = "10m", on = "failure", backoff = "1s", scope = "process" }') then return nil end
  muster.check_keys(restart, muster.field_names "restart", what, place)
  local read = { scope = restart.scope or muster.field_default("restart", "scope"), codes = {}, signals = {} }
  if restart.verdict ~= nil and type(restart.verdict) ~= "boolean" then
    host.report("error", "type", place, ("%s: verdict must be true or false, got %s"):format(what, shown(restart.verdict)),
                "verdict = true restarts only what a restart can help: muster docs verdicts")
  end
  read.verdict = restart.verdict == true
  if restart.max == nil and restart.verdict then
    read.max = VERDICT_MAX
  elseif not fields.is_whole(restart.max, 0, 1000000) then
    host.report("error", "range", place, ("%s: max must be a whole number from 0 to 1000000, got %s"):format(what, shown(restart.max)),
                "how often processes of the role are started again at most")
  else
    read.max = restart.max
  end
  read.within_ms = duration(restart.within, place, "within of " .. what) or 0
  if not muster.is_word(SCOPES, read.scope) then
    host.report("error", "enum", place, ("%s: scope must be %s, got %s"):format(what, ALL_SCOPES, shown(read.scope)),
                host.nearest(host.tostring(read.scope), SCOPES))
  end
  read_on(restart.on, place, what, read)
  if restart.backoff == 0 then
    read.backoff_ms = 0
  else
    read.backoff_ms = duration(restart.backoff, place, "backoff of " .. what)
  end
  return read
end

local function read_limits(limits, place, role)
  local what = "limits of role " .. role
  if limits == nil or not want_table(limits, place, what, '{ time = "2h", silent = "15m" }') then return {} end
  muster.check_keys(limits, muster.field_names "role.limits", what, place)
  return { time_ms = duration(limits.time, place, what .. ": time"), silent_ms = duration(limits.silent, place, what .. ": silent") }
end

local LEAST_LOG, MOST_LOG = 2 ^ 20, 2 ^ 50

-- logs = { max = "1GiB" } of a role or of the whole job: size limit of each log, in bytes. nil: no limit.
local function read_logs(logs, place, what)
  if logs == nil or not want_table(logs, place, what, '{ max = "1GiB" }') then return nil end
  muster.check_keys(logs, muster.field_names "logs", what, place)
  if logs.max == nil then return nil end
  local bytes = host.bytes(logs.max)
  if bytes and bytes >= LEAST_LOG and bytes <= MOST_LOG then return bytes end
  host.report("error", bytes and "range" or "format", place,
              ("%s: max must be a size from 1MiB to 1PiB, got %s"):format(what, shown(logs.max)), 'for example "64MiB" or "1GiB"')
  return nil
end

local policies = {}

local ENDINGS, ALL_ENDINGS = muster.field_words("role", "done")

-- Sets after, ready, restart, limits, logs, stop and done of `role`, whose ports are known already.
function policies.read(options, role, place)
  if options.done ~= nil and not muster.is_word(ENDINGS, options.done) then
    host.report("error", "enum", place, ("done of role %s must be %s, got %s"):format(role.name, ALL_ENDINGS, shown(options.done)))
  else
    role.done = options.done
  end
  role.after = read_after(options.after, place, role.name)
  role.ready = read_ready(options.ready, place, role.name, role.ports)
  role.restart = read_restart(options.restart, place, role.name)
  role.limits = read_limits(options.limits, place, role.name)
  role.log_bytes = read_logs(options.logs, place, "logs of role " .. role.name)
  role.stop = read_stop(options.stop, place, role.name)
end

-- Sets the recipe's log limit in all roles without one of their own.
function policies.settle_logs(roles, logs, place)
  local bytes = read_logs(logs, place, "logs")
  for _, role in ipairs(roles) do role.log_bytes = role.log_bytes or bytes end
end

-- Turns the names in `after` into positions in the list of all roles, and reports roles that wait for themselves.
function policies.settle_after(roles)
  local position, names = {}, {}
  for i, role in ipairs(roles) do position[role.name], names[i] = i, role.name end
  for _, role in ipairs(roles) do
    local chosen = {}
    for _, name in ipairs(role.after or {}) do
      if not position[name] then
        host.report("error", "roles", role.place, ("role %s comes after role %s, which does not exist"):format(role.name, name),
                    host.suggest(name, names))
      else
        chosen[position[name]] = true
      end
    end
    role.after_positions = host.sorted_keys(chosen)
  end
  local state = {}
  local function visit(i, path)
    if state[i] == "done" then return false end
    path = path .. roles[i].name
    if state[i] == "open" then
      host.report("error", "roles", roles[i].place, "roles wait for each other: " .. path, "take one of them out of after")
      return true
    end
    state[i] = "open"
    for _, other in ipairs(roles[i].after_positions) do
      if visit(other, path .. " after ") then return true end
    end
    state[i] = "done"
    return false
  end
  for i = 1, #roles do
    if visit(i, "") then return end
  end
end

return policies
