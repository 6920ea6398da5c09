-- Containers: reads `container` of a recipe and its roles, and the pages of the runtimes (containers/NAME.lua). A page is a
-- table with the fields of ContainerRuntime (include/muster/plan.h), except that `devices` has, by the kind of devices,
-- { words = { … }, script = "…" }.
local host, muster = ...

local KEYS = muster.field_names "container"
local RUNTIMES, ALL_RUNTIMES = muster.field_words("container", "runtime")

local function shown(value) return host.show(value) end

local function page(name)
  return host.load(host.own_page("containers/" .. name), "=muster/containers/" .. name, { page = function(other) return page(other)() end })
end

-- "/data:/mnt:ro" -> { source, target, read_only }, or nil and what is wrong. The ':' of a placeholder separates nothing.
local function read_mount(text)
  local holes = {}
  local plain = text:gsub("%${muster:[^}]*}", function(hole)
    holes[#holes + 1] = hole
    return "\1" .. #holes .. "\2"
  end)
  local parts = {}
  for part in (plain .. ":"):gmatch("([^:]*):") do
    parts[#parts + 1] = part:gsub("\1(%d+)\2", function(number) return holes[tonumber(number)] end)
  end
  local mode = #parts > 1 and (parts[#parts] == "ro" or parts[#parts] == "rw") and table.remove(parts) or "rw"
  if #parts > 2 then return nil, "it has too many parts" end
  for _, path in ipairs(parts) do
    if not path:match("^[/$]") then return nil, ("%s is not an absolute path"):format(shown(path)) end
    if path:find("[,\n]") then return nil, "runtimes cannot mount a path with a comma or a line break" end
  end
  return { source = parts[1], target = parts[2] or parts[1], read_only = mode == "ro" }
end

-- A list of texts as given in the field; calls use(text) for each.
local function each_text(given, key, what, place, example, use)
  if type(given) == "string" then given = { given } end
  if type(given) ~= "table" then
    host.report("error", "type", place, ("%s: %s must be a list of texts, got %s"):format(what, key, shown(given)), example)
    return
  end
  for position, name in ipairs(host.sorted_keys(given)) do
    local text = host.text(given[name])
    if name ~= position or not text then
      host.report("error", "type", place, ("%s: %s must be a list of texts, got %s"):format(what, key, shown(given)), example)
      return
    end
    use(text)
  end
end

-- The fields of one table, checked, or nil.
local function read(given, place, what)
  if given == nil then return nil end
  if type(given) ~= "table" then
    host.report("error", "type", place, ("%s must be a table, got %s"):format(what, shown(given)), 'container = { image = "train:1" }')
    return nil
  end
  muster.check_keys(given, KEYS, what, place)
  local container = {}
  local image = given.image
  if image ~= nil and (type(image) ~= "string" or image == "" or image:sub(1, 1) == "-" or not host.is_text(image)) then
    host.report("error", "type", place, ("%s: image must be the name of an image, got %s"):format(what, shown(image)), 'image = "train:1"')
  else
    container.image = image
  end
  if given.runtime ~= nil and not muster.is_word(RUNTIMES, given.runtime) then
    host.report("error", "enum", place, ("%s: runtime must be %s, got %s"):format(what, ALL_RUNTIMES, shown(given.runtime)),
                host.nearest(host.tostring(given.runtime), RUNTIMES))
  else
    container.runtime = given.runtime
  end
  if given.mounts ~= nil then
    container.mounts = {}
    each_text(given.mounts, "mounts", what, place, 'mounts = { "/data", "/models:/mnt/models:ro" }', function(text)
      local mount, why = read_mount(text)
      if not mount then
        host.report("error", "format", place, ("%s: mount %s: %s"):format(what, shown(text), why), 'a mount is "/path", "/path:/in/container" or "/path:/in/container:ro"')
      end
      container.mounts[#container.mounts + 1] = mount
    end)
  end
  if given.options ~= nil then
    container.options = {}
    each_text(given.options, "options", what, place, 'options = { "--shm-size=8g" }', function(text)
      container.options[#container.options + 1] = text
    end)
  end
  return container
end

local containers = {}

-- The runtime as the plan holds it, for the job's kind of devices; `kind` is nil for a role without devices.
local function runtime_for(name, kind)
  local runtime = {}
  for key, value in pairs(page(name)()) do runtime[key] = value end
  local devices = kind and runtime.devices[kind] or {}
  runtime.devices = devices.words
  runtime.script = (runtime.script or "") .. (devices.script or "")
  return runtime
end

-- Sets `container` of all roles: the role's fields over those of the recipe. `false` in a role: no container.
function containers.settle(roles, given, place, device_kind)
  local common = read(given, place, "container")
  for _, role in ipairs(roles) do
    local what = "container of role " .. role.name
    local asked = role.container
    role.container = nil
    local own = asked ~= false and read(asked, role.place, what) or nil
    if asked ~= false and (own or common) then
      local merged = {}
      for _, key in ipairs(KEYS) do
        merged[key] = own and own[key]
        if merged[key] == nil and common then merged[key] = common[key] end
      end
      if merged.image then
        merged.runtime = runtime_for(merged.runtime or muster.field_default("container", "runtime"), role.devices > 0 and device_kind or nil)
        role.container = merged
      else
        host.report("error", "missing", own and role.place or place, (own and what or "container") .. " names no image", 'container = { image = "train:1" }')
      end
    end
  end
end

-- A launcher such as mpirun starts processes on several hosts itself, so it cannot run in a container of one of them.
function containers.refuse_launchers(roles)
  for _, role in ipairs(roles) do
    if role.launcher and role.container then
      host.report("error", "conflict", role.place, ("role %s has a container, but its processes are started by %s"):format(role.name, shown(role.launcher[1])),
                  "container = false, and put the container's command line before the program in command")
    end
  end
end

return containers
