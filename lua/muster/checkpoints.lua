-- Checkpoints: the recipe's `checkpoint` table, the fields job.checkpoint and job.resume, and which roles are requested
-- to write a checkpoint before they are stopped. Reads no file: the newest checkpoint is looked up at the start of a
-- run.
local host, prelude, muster = ...

local function shown(value) return host.show(value) end

local KEYS = muster.field_names "checkpoint"
local WAIT_MS = host.duration_ms(muster.field_default("checkpoint", "wait"))
local NOT_CAUGHT = { KILL = true, STOP = true }
local EXAMPLE = 'checkpoint = { dir = "checkpoints", latest = "step_*.pt", signal = "USR1" }'

-- A path below the folder, or nil after a report.
local function below(value, place, what)
  if type(value) == "string" and value ~= "" and host.is_text(value) and value:sub(1, 1) ~= "/" and #value <= 4096 and
     not ("/" .. value .. "/"):find("/../", 1, true) and not value:find("${muster:", 1, true) then
    return value
  end
  host.report("error", "format", place, ("checkpoint: %s must be a path below dir, got %s"):format(what, shown(value)), EXAMPLE)
end

-- Whether each "[" in a part of a pattern has its "]", and each "\" the character that it escapes, as in fnmatch(3).
local function is_closed(part)
  part = part:gsub("\\.", "x"):gsub("%[:%a+:%]", "x")
  local at = part:find("[", 1, true)
  while at do
    local first = part:match("^[!^]?()", at + 1)  -- a "]" here is one of the characters
    local close = part:find("]", first + 1, true)
    if not close then return false end
    at = part:find("[", close + 1, true)
  end
  return not part:find("\\", 1, true)
end

-- A pattern of paths below the folder, or nil after a report.
local function read_pattern(latest, place)
  if not below(latest, place, "latest") then return nil end
  for part in latest:gmatch "[^/]+" do
    if not is_closed(part) then
      host.report("error", "format", place, ("checkpoint: latest is %s, in which %s ends within a [ or after a \\"):format(shown(latest), shown(part)),
                  'latest = "step_[0-9]*.pt"; the characters themselves are "[[]" and "\\\\"')
      return nil
    end
  end
  return latest
end

local function read_dir(dir, place)
  if type(dir) ~= "string" or dir == "" or not host.is_text(dir) then
    host.report("error", dir == nil and "missing" or "type", place,
                ("checkpoint: dir must be the folder of the checkpoints, got %s"):format(shown(dir)), EXAMPLE)
    return nil
  end
  dir = dir:gsub("(.)/+$", "%1")
  if dir:find("${muster:", 1, true) and dir:sub(1, #host.hole "run_dir") ~= host.hole "run_dir" then
    host.report("error", "format", place, ("checkpoint: dir begins with a value known only at the start: %s"):format(shown(dir)))
    return nil
  end
  if dir:sub(1, 1) == "/" or dir:sub(1, #host.hole "run_dir") == host.hole "run_dir" then return dir end
  if not below(dir, place, "dir") then return nil end
  return host.hole "run_dir" .. "/" .. dir
end

-- The recipe's `checkpoint`, checked; nil if it has none. It may be a function of the parameters.
local function read(recipe, p)
  local place, said = recipe.place, recipe.checkpoint
  if type(said) == "function" then said = said(p) end
  if said == nil then return nil end
  if type(said) ~= "table" then
    host.report("error", "type", place, ("checkpoint must be a table, or a function of the parameters that returns one, got %s"):format(shown(said)), EXAMPLE)
    return nil
  end
  muster.check_keys(said, KEYS, "checkpoint", place)
  local checkpoint = { place = place, dir = read_dir(said.dir, place) }
  local latest = said.latest
  if type(latest) == "table" then
    muster.check_keys(latest, { "file" }, "latest of checkpoint", place)
    checkpoint.file = below(latest.file, place, "file of latest")
  elseif latest == nil then
    host.report("error", "missing", place, "checkpoint: latest defines the newest checkpoint",
                'a pattern such as latest = "step_*.pt", or latest = { file = "latest" } for a file that holds its name')
  else
    checkpoint.latest = read_pattern(latest, place)
  end
  if said.complete ~= nil then checkpoint.complete = below(said.complete, place, "complete") end
  if said.signal ~= nil then
    if type(said.signal) == "string" and host.is_signal(said.signal) then
      checkpoint.signal = said.signal:gsub("^SIG", "")
      if NOT_CAUGHT[checkpoint.signal] then
        host.report("error", "enum", place, ("checkpoint: programs cannot handle %s, so it cannot request a checkpoint"):format(shown(said.signal)),
                    'for example "USR1"')
      end
    else
      host.report("error", "enum", place, ("checkpoint: %s is no signal"):format(shown(said.signal)), 'for example "USR1"')
    end
  end
  for _, key in ipairs { "wait", "roles" } do
    if said[key] ~= nil and said.signal == nil then
      host.report("error", "missing", place, ("checkpoint: %s requires signal"):format(key), 'signal = "USR1"')
    end
  end
  local wait = said.wait == nil and WAIT_MS or host.duration_ms(said.wait)
  if not wait or wait <= 0 or wait > 86400000 then
    host.report("error", "format", place, ("checkpoint: wait must be a duration up to a day, such as \"2m\", got %s"):format(shown(said.wait)),
                host.duration_hint(said.wait))
    wait = WAIT_MS
  end
  checkpoint.wait_ms = math.ceil(wait)
  local roles = said.roles
  if type(roles) == "string" then roles = { roles } end
  if roles ~= nil and type(roles) ~= "table" then
    host.report("error", "type", place, ("checkpoint: roles must be a list of names, got %s"):format(shown(said.roles)))
    roles = nil
  elseif roles and #roles == 0 then
    host.report("error", "missing", place, "checkpoint: roles is empty, so no process would get the signal",
                'roles = { "trainer" }; without it the workers get the signal')
    roles = nil
  end
  checkpoint.roles = roles
  return checkpoint
end

-- Returns job.checkpoint and job.resume by name; the second is nil at a first start.
local function offered(checkpoint)
  local run = host.resumed()
  local where = checkpoint and prelude.read_only({ dir = checkpoint.dir or "", newest = host.hole "newest_checkpoint" }, "job.checkpoint")
  local resume = run and prelude.read_only({ run = run, checkpoint = host.hole "checkpoint" }, "job.resume") or nil
  return function(name)
    if name == "resume" then return resume end
    if where then return where end
    host.stop("missing", host.here(), "job.checkpoint: the recipe has no `checkpoint`", EXAMPLE)
  end
end

-- Records the checkpoint signal in the roles that can write one, and the folder of checkpoints in the plan.
local function settle(checkpoint, job)
  if not checkpoint then return end
  host.checkpoints(checkpoint)
  if not checkpoint.signal then return end
  if checkpoint.roles then
    for _, name in ipairs(checkpoint.roles) do
      local role = job.by_name[name]
      if role then
        role.checkpoint_signal, role.checkpoint_ms = checkpoint.signal, checkpoint.wait_ms
      else
        host.report("error", "roles", checkpoint.place, ("checkpoint: there is no role %s"):format(shown(name)),
                    host.suggest(host.tostring(name), host.keys(job.by_name)))
      end
    end
    return
  end
  local any = false
  for _, role in ipairs(job.roles) do
    if role.plays == "worker" then
      role.checkpoint_signal, role.checkpoint_ms, any = checkpoint.signal, checkpoint.wait_ms, true
    end
  end
  if not any then
    host.report("error", "missing", checkpoint.place, "checkpoint: signal is sent to the workers, but the job has none",
                'roles = { "trainer" } names the roles that write checkpoints')
  end
end

return { read = read, offered = offered, settle = settle }
