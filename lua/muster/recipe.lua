-- Recipes: the arguments of muster.recipe and extend, loading a recipe from a file beside another, and the settled
-- recipe for the engine once the profiles are known. Parameters are in parameters.lua.
local host, prelude, muster, parameters = ...

local api = muster.api
local contents = muster.contents

local function shown(value) return host.show(value) end

local RECIPE_KEYS = muster.field_names "recipe"
local ENGINES = muster.field_names("recipe", "engine")
local MOST_LOADED = 16  -- levels of nested muster.load

local methods = {}

-- Which metrics are read in a log: { val_acc = "val_acc=([0-9.]+)" }; `role` says whose log, `stdout` has patterns by any name.
-- By path, for inherit. Regular expressions are checked outside.
local METRICS_EXAMPLE = "metrics = { val_acc = [[val_acc=([0-9.]+)]] }"

local function read_log_metrics(given, place)
  local read = {}
  local function pattern(name, text)
    if type(name) ~= "string" or name == "" or not host.is_text(name) then
      host.report("error", "type", place, ("metrics must be a table of patterns by metric, and has the key %s"):format(shown(name)), METRICS_EXAMPLE)
    elseif type(text) ~= "string" or not text:find("(", 1, true) or not host.is_text(text) then
      host.report("error", "type", place, ("metrics: the pattern of %s must be a text with one group, got %s"):format(name, shown(text)), METRICS_EXAMPLE)
    else
      read["stdout." .. name] = { name = name, text = text, place = place }
    end
  end
  for _, name in ipairs(host.sorted_keys(given)) do
    local value = rawget(given, name)
    if name == "role" then
      if type(value) == "string" and value ~= "" then
        read.role = { name = "", text = value, place = place }
      else
        host.report("error", "type", place, ("metrics: role must be the name of a role, got %s"):format(shown(value)), 'role = "worker"')
      end
    elseif name == "stdout" and type(value) == "table" then
      for _, metric in ipairs(host.sorted_keys(value)) do pattern(metric, rawget(value, metric)) end
    elseif name == "result" then
      host.report("error", "unknown_key", place, "metrics: result is a field of a sweep's metrics, not of a recipe's",
                  "muster.sweep { metrics = { result = … } }; a metric of that name: stdout = { result = … }")
    else
      pattern(name, value)
    end
  end
  return read
end

-- Checks the table of a recipe or an extension and returns a copy. All fields of an extension are optional.
local function read(given, place, base)
  muster.check_keys(given, RECIPE_KEYS, base and "an extension" or "a recipe", place)
  local recipe = { place = place, notify_place = place }
  for _, key in ipairs(RECIPE_KEYS) do recipe[key] = given[key] end
  local function want(key, kind, why)
    local value = recipe[key]
    if value == nil and why then
      if not base then host.report("error", "missing", place, ("the recipe has no %s"):format(key), why) end
    elseif value ~= nil and type(value) ~= kind then
      host.report("error", "type", place, ("%s must be a %s, got %s"):format(key, kind, shown(value)),
                  kind == "string" and type(value) == "number" and ('%s = "%s"'):format(key, host.tostring(value)) or why)
      recipe[key] = nil
    elseif kind == "string" and value ~= nil and not host.is_text(value) then
      host.report("error", "text", place, ("%s is not valid UTF-8 without NUL: %s"):format(key, shown(value)))
    end
  end
  want("name", "string", 'name = "my-job"')
  want("plan", "function", "plan = function(p, job) … end")
  want("doc", "string")
  -- framework = { "mindspore-ps", form = "minimal" }: a contract with options of its own.
  recipe.framework_options = {}
  local brought = contents(recipe.framework, "a contract")
  if type(recipe.framework) == "table" and not brought then
    for _, key in ipairs(host.sorted_keys(recipe.framework)) do
      if key ~= 1 then recipe.framework_options[key] = recipe.framework[key] end
    end
    recipe.framework = recipe.framework[1]
    if recipe.framework == nil then
      host.report("error", "type", place, "framework names no contract", 'framework = { "mindspore-ps", form = "minimal" }')
    end
    brought = contents(recipe.framework, "a contract")
  end
  if brought then recipe.framework, recipe.contract = brought.name, brought end
  want("framework", "string")
  want("version", "string")
  want("mindspore", "string")
  want("accept_release", "boolean")
  want("apply_context", "boolean")
  for _, key in ipairs { "accept_release", "apply_context" } do
    if recipe[key] ~= nil and given.mindspore == nil and not (base and base.mindspore) then
      host.report("error", "missing", place, ("%s is about a release of MindSpore, and the recipe names none"):format(key),
                  'mindspore = "1.6"')
    end
  end
  want("params", "table")
  want("profiles", "table")
  want("cluster", "table")
  want("limits", "table")
  want("logs", "table")
  want("container", "table")
  want("metrics", "table")
  recipe.log_metrics = read_log_metrics(recipe.metrics or {}, place)
  if type(recipe.checkpoint) ~= "function" then want("checkpoint", "table") end
  if type(recipe.notify) ~= "function" and recipe.notify ~= false then want("notify", "table") end
  if type(recipe.name) == "string" and not (recipe.name:match("^[%w][%w_.-]*$") and #recipe.name <= 100) then
    host.report("error", "format", place, "name must consist of letters, digits, '_', '-' and '.', got " .. shown(recipe.name),
                'name = "my-job"')
  end
  local function copy(key)
    local source, copied = recipe[key], {}
    if source == nil then return end
    muster.check_keys(source, muster.field_names(key), key, place)
    for _, name in ipairs(host.sorted_keys(source)) do copied[name] = rawget(source, name) end
    recipe[key] = copied
  end
  copy "cluster"
  local cluster = recipe.cluster or {}
  if cluster.device_kind ~= nil and not host.device_variable(cluster.device_kind) then
    host.report("error", "enum", place, ("cluster.device_kind must be one of %s, got %s"):format(shown(host.device_kinds()), shown(cluster.device_kind)),
                host.nearest(host.tostring(cluster.device_kind), host.device_kinds()))
  end
  if cluster.share_devices ~= nil and type(cluster.share_devices) ~= "boolean" then
    host.report("error", "type", place, ("cluster.share_devices must be true or false, got %s"):format(shown(cluster.share_devices)))
  end
  copy "limits"
  copy "logs"
  -- slurm = { partition = "gpu" }: checked outside, against the page of the engine that is used.
  recipe.engine_settings = {}
  for _, engine in ipairs(ENGINES) do
    want(engine, "table", nil)
    for _, name in ipairs(host.sorted_keys(recipe[engine] or {})) do
      if type(name) ~= "string" then
        host.report("error", "type", place, ("%s must be a table of names and values, and has the key %s"):format(engine, shown(name)))
      else
        recipe.engine_settings[engine .. "." .. name] = { engine = engine, name = name, value = rawget(recipe[engine], name), place = place }
      end
    end
  end
  copy "container"
  return recipe
end

-- Adds the base's fields that the extension does not set. Tables of options are merged by their keys.
local function inherit(recipe, base)
  if recipe.framework == nil then
    recipe.framework, recipe.framework_options, recipe.contract = base.framework, base.framework_options, base.contract
  end
  for _, key in ipairs { "name", "doc", "version", "mindspore", "accept_release", "apply_context" } do
    if recipe[key] == nil then recipe[key] = base[key] end
  end
  for _, key in ipairs { "limits", "logs", "container" } do
    local merged = {}
    for _, source in ipairs { base[key] or {}, recipe[key] or {} } do
      for name, value in pairs(source) do merged[name] = value end
    end
    recipe[key] = (base[key] or recipe[key]) and merged
  end
  for path, setting in pairs(base.engine_settings) do
    recipe.engine_settings[path] = recipe.engine_settings[path] or setting
  end
  for path, read in pairs(base.log_metrics) do recipe.log_metrics[path] = recipe.log_metrics[path] or read end
  if type(recipe.checkpoint) == "table" and type(base.checkpoint) == "table" then
    local merged = {}
    for _, source in ipairs { base.checkpoint, recipe.checkpoint } do
      for name, value in pairs(source) do merged[name] = value end
    end
    recipe.checkpoint = merged
  elseif recipe.checkpoint == nil then
    recipe.checkpoint = base.checkpoint
  end
  if recipe.notify == nil then recipe.notify, recipe.notify_place = base.notify, base.notify_place end
  local own = recipe.cluster or {}
  local merged, places = {}, {}
  for name, value in pairs(base.cluster or {}) do
    -- `hosts` and `host_list` exclude each other: setting one removes the base's value of the other.
    local replaced = (name == "host_list" and own.hosts ~= nil) or (name == "hosts" and own.host_list ~= nil)
    if not replaced then merged[name], places[name] = value, base.cluster_places[name] end
  end
  for name, value in pairs(own) do merged[name], places[name] = value, recipe.place end
  recipe.cluster, recipe.cluster_places = merged, places
end

-- profiles = { smoke = { layers = 2, hosts = 1, optimizer = { variant = "sgd" } } }, merged over the base's.
local function read_profiles(recipe, base)
  local given = recipe.profiles or {}
  local profiles = {}
  for _, name in ipairs(host.keys(base and base.profiles or {})) do
    local of_base = base.profiles[name]
    profiles[name] = { place = of_base.place, values = { unpack(of_base.values) } }
  end
  for _, name in ipairs(host.sorted_keys(given)) do
    local values = rawget(given, name)
    if type(name) ~= "string" or not name:match("^[%w_][%w_.-]*$") or #name > 100 then
      host.report("error", "format", recipe.place, ("%s is not a valid name for a profile"):format(shown(name)),
                  "letters, digits, '_', '-' and '.'")
    elseif type(values) ~= "table" or muster.kind_of(values) then
      host.report("error", "type", recipe.place, ("profile %s must be a table of values, got %s"):format(name, shown(values)),
                  ("%s = { steps = 20, hosts = 1 }"):format(name))
    else
      local profile = profiles[name] or { values = {} }
      profile.place = recipe.place
      local before = #profile.values
      parameters.read_profile(recipe.scope, values, recipe.place, "profile " .. name, profile.values)
      for position = before + 1, #profile.values do profile.values[position].profile = name end
      profiles[name] = profile
    end
  end
  recipe.profiles = profiles
end

-- Calls the plan function; the third argument of an extension's calls the base's plan function.
local function run_plan(recipe, p, job)
  if not recipe.base then return recipe.plan(p, job) end
  if not recipe.plan then return run_plan(recipe.base, p, job) end
  recipe.plan(p, job, function(other_p, other_job)
    if other_p ~= p or other_job ~= job then
      host.stop("type", host.here(), "base expects the p and the job that the plan function was given", "write base(p, job)")
    end
    run_plan(recipe.base, p, job)
  end)
end

local function sealed_recipe(recipe) return muster.seal("a recipe", recipe, methods) end

function api.recipe(given)
  local place = host.here()
  if type(given) == "table" and rawget(given, "plan") == nil and rawget(given, "name") == nil and type(given.recipe) == "function" then
    host.stop("type", place, "muster.recipe is called with a colon", "write muster.recipe { … }")
  end
  if type(given) ~= "table" then
    host.stop("type", place, "muster.recipe expects a table, got " .. shown(given), "muster.recipe { name = …, plan = … }")
  end
  local recipe = read(given, place)
  recipe.scope = parameters.read(recipe.params or {}, place)
  recipe.cluster_places = {}
  for name in pairs(recipe.cluster or {}) do recipe.cluster_places[name] = place end
  read_profiles(recipe)
  return sealed_recipe(recipe)
end

-- The extension of a recipe, made at that place.
local function extended(object, given, place)
  local base = contents(object, "a recipe")
  local recipe = read(given, place, base)
  recipe.base = base
  inherit(recipe, base)
  recipe.scope = parameters.read(recipe.params or {}, place, base.scope)
  read_profiles(recipe, base)
  return sealed_recipe(recipe)
end

-- base:extend { … }
function methods.extend(self, given)
  local place = host.here()
  if not contents(self, "a recipe") then
    host.stop("type", place, "extend is called with a dot", "write base:extend { … }")
  elseif type(given) ~= "table" then
    host.stop("type", place, "extend expects a table, got " .. shown(given))
  end
  return extended(self, given, place)
end

-- "a/./b//c.lua" -> "a/b/c.lua"; a ".." that leaves the folder stays, and the parent process refuses it.
local function normal(path)
  local parts = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." and #parts > 0 and parts[#parts] ~= ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, "/")
end

local loaded = {}   -- by path relative to the folder of the recipe that is run
local loading = {}  -- recipes that are being loaded, beginning with the recipe that is run

-- muster.load "gpt.lua": the recipe of a file beside this one, to be extended.
function api.load(name)
  local place = host.here()
  if type(name) ~= "string" or name == "" or name:sub(1, 1) == "/" or name:find("%z") then
    host.stop("type", place, "muster.load expects the name of a recipe beside this one, got " .. shown(name),
              'muster.load "gpt.lua"')
  end
  local library, rest = name:match("^(@[^/]+/)(.+)$")
  if name:sub(1, 1) == "@" and not library then
    host.stop("type", place, ("muster.load: %s names no recipe of a library"):format(name),
              'muster.load "@acme/gpt" is gpt.lua of the library acme, which the site file names')
  end
  local folder = library and "" or prelude.folder(place)
  local path = normal(folder .. name)
  library = library or folder:match("^@[^/]+/")
  if library then
    if rest and not name:find("%.lua$") then path = path .. ".lua" end
    if path:sub(1, #library) ~= library then
      host.stop("recipe", place, ("muster.load: %s leads out of the library %s"):format(name, library:sub(1, -2)))
    end
  end
  if not library and path:sub(1, 1) == "@" then
    host.stop("recipe", place, ("muster.load: %s: names that begin with '@' are those of libraries"):format(name))
  end
  if loaded[path] then return loaded[path] end
  for position, other in ipairs(loading) do
    if other == path then
      local ring = { unpack(loading, position) }
      ring[#ring + 1] = path
      host.stop("recipe", place, ("muster.load: %s loads itself: %s"):format(path, table.concat(ring, " → ")))
    end
  end
  if #loading > MOST_LOADED then
    host.stop("recipe", place, ("muster.load: recipes load each other more than %d deep"):format(MOST_LOADED))
  end
  local text, file = host.read_beside(path)
  if not text then
    host.stop("recipe", place, ("muster.load: %s cannot be read: %s"):format(name, file),
              not name:find("%.lua$") and not rest and ("a recipe is a file: muster.load %q"):format(name .. ".lua") or nil)
  end
  loading[#loading + 1] = path
  local recipe = prelude.run(text, file, path:match("^(.*/)") or "")
  loading[#loading] = nil
  if not contents(recipe, "a recipe") then
    host.stop("recipe", place, ("muster.load: %s returns no recipe"):format(name), "end it with: return muster.recipe { … }")
  end
  loaded[path] = recipe
  return recipe
end

-- Called by the engine: runs the recipe file given on the command line.
local function run_first(text, file)
  loading[1] = file:match("[^/]*$")
  return prelude.run(text, file, "")
end

-- Called by the engine: the recipe with the values of its extensions and of the selected profiles.
local function settle(recipe, asked)
  local values = {}
  for _, each in ipairs(recipe.scope.values) do values[#values + 1] = each end
  for _, name in ipairs(asked) do
    local profile = recipe.profiles[name]
    if not profile then
      local known = host.keys(recipe.profiles)
      host.report("error", "profile", recipe.place, ("the recipe has no profile %s"):format(shown(name)),
                  #known == 0 and "it has none at all" or host.suggest(name, known))
    else
      for _, each in ipairs(profile.values) do values[#values + 1] = each end
    end
  end
  local engine_settings = {}
  for _, path in ipairs(host.sorted_keys(recipe.engine_settings)) do engine_settings[#engine_settings + 1] = recipe.engine_settings[path] end
  local log_metrics = {}
  for _, path in ipairs(host.sorted_keys(recipe.log_metrics)) do log_metrics[#log_metrics + 1] = recipe.log_metrics[path] end
  return { engine_settings = engine_settings, log_metrics = log_metrics, declared = recipe.scope.declared, values = values, profiles = recipe.profiles, cluster = recipe.cluster or {},
           cluster_places = recipe.cluster_places }
end

return { run_first = run_first, settle = settle, run_plan = run_plan, extended = extended }
