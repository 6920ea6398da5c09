-- The module "muster": what a recipe is made of. Declares and remembers; the engine checks parameters and
-- calls the plan function (job.lua). Returns { api = what recipes see, … = what muster's other files use }.
local host, prelude, context_module = ...

local muster = { null = host.null }

local function shown(value) return host.show(value) end

-- What the constructors return is sealed: a recipe can pass it on and nothing else, so what was checked stays as
-- it was. The contents are found by the object's identity.
local sealed = setmetatable({}, { __mode = "k" })
local function seal(kind, contents)
  local object = setmetatable({}, {
    __index = function(_, key)
      host.stop("unknown_key", host.here(), ("%s has no field %s that a recipe could read"):format(kind, shown(key)))
    end,
    __newindex = function(_, key)
      host.stop("read_only", host.here(), ("%s cannot be changed, and %s was set"):format(kind, shown(key)))
    end,
    __tostring = function() return kind end,
    __metatable = false,
  })
  sealed[object] = { kind = kind, contents = contents }
  return object
end

local function contents(object, kind)
  local found = type(object) == "table" and sealed[object]
  return found and found.kind == kind and found.contents or nil
end

for _, kind in ipairs { "int", "float", "bool", "string", "enum", "path", "list", "map", "bytes", "duration", "secret" } do
  muster[kind] = function(declaration)
    local place = host.here()
    local fields = { type = kind }
    if type(declaration) == "table" and not sealed[declaration] then
      for key, value in pairs(declaration) do
        -- A list's default may stand in the declaration itself: muster.list { { 1, 2 } }.
        fields[type(key) == "number" and host.tostring(key) or key] = value
      end
    elseif declaration ~= nil then
      fields["1"] = declaration
    end
    return seal("a parameter", { fields = fields, place = place })
  end
end

local RECIPE_KEYS = { "name", "doc", "framework", "mindspore", "accept_release", "apply_context", "params", "cluster", "limits", "logs", "plan" }

local function check_keys(table, known, what, place)
  for _, key in ipairs(host.sorted_keys(table)) do
    local ok = false
    for _, name in ipairs(known) do ok = ok or name == key end
    if not ok then
      host.report("error", "unknown_key", place, ("%s has no option %s"):format(what, shown(key)),
                  host.suggest(host.tostring(key), known))
    end
  end
end

-- The constructor that a bare value asks for.
local function type_for(value)
  if type(value) == "number" then return value % 1 == 0 and "int" or "float" end
  return ({ boolean = "bool", string = "string", table = "list" })[type(value)] or "string"
end

function muster.recipe(given)
  local place = host.here()
  if type(given) ~= "table" then
    host.stop("type", place, "muster.recipe wants a table, got " .. shown(given))
  end
  check_keys(given, RECIPE_KEYS, "a recipe", place)
  local recipe = { place = place }
  for _, key in ipairs(RECIPE_KEYS) do recipe[key] = given[key] end
  local function want(key, kind, why)
    local value = recipe[key]
    if value == nil and why then
      host.report("error", "missing", place, ("the recipe has no %s"):format(key), why)
    elseif value ~= nil and type(value) ~= kind then
      host.report("error", "type", place, ("%s is a %s, got %s"):format(key, kind, shown(value)))
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
  want("mindspore", "string")
  want("accept_release", "boolean")
  want("apply_context", "boolean")
  for _, key in ipairs { "accept_release", "apply_context" } do
    if recipe[key] ~= nil and given.mindspore == nil then
      host.report("error", "missing", place, ("%s is about a release of MindSpore, and the recipe names none"):format(key),
                  'mindspore = "1.6"')
    end
  end
  want("params", "table")
  want("cluster", "table")
  want("limits", "table")
  want("logs", "table")
  if type(recipe.name) == "string" and not (recipe.name:match("^[%w][%w_.-]*$") and #recipe.name <= 100) then
    host.report("error", "format", place, "name names folders: letters, digits, '_', '-' and '.', got " .. shown(recipe.name))
  end
  local function copy(key, known)
    local source, copied = recipe[key], {}
    if source == nil then return end
    if known then check_keys(source, known, key, place) end
    for _, name in ipairs(host.sorted_keys(source)) do copied[name] = rawget(source, name) end
    recipe[key] = copied
  end
  copy("cluster", { "hosts", "devices_per_host", "host_list", "device_kind", "share_devices" })
  local cluster = recipe.cluster or {}
  if cluster.device_kind ~= nil and not host.device_variable(cluster.device_kind) then
    host.report("error", "enum", place, ("cluster.device_kind is none of %s, got %s"):format(shown(host.device_kinds()), shown(cluster.device_kind)),
                host.nearest(host.tostring(cluster.device_kind), host.device_kinds()))
  end
  if cluster.share_devices ~= nil and type(cluster.share_devices) ~= "boolean" then
    host.report("error", "type", place, ("cluster.share_devices is true or false, got %s"):format(shown(cluster.share_devices)))
  end
  copy("limits", { "time", "start", "silent" })
  copy("logs", { "max" })
  copy("params")
  for _, name in ipairs(host.sorted_keys(recipe.params or {})) do
    local value = recipe.params[name]
    recipe.params[name] = contents(value, "a parameter")
    if type(name) ~= "string" or not name:match("^[%a_][%w_]*$") or #name > 100 then
      host.report("error", "parameter", place, ("%s is no name for a parameter"):format(shown(name)),
                  "names are letters, digits and '_', and begin with no digit")
      recipe.params[name] = nil
    elseif not recipe.params[name] then
      host.report("error", "parameter", place, ("parameter %s is not declared with a type"):format(name),
                  ("write: %s = muster.%s { %s }"):format(name, type_for(value), shown(value)))
    end
  end
  return seal("a recipe", recipe)
end

-- exact_div { devices = n, by = { pipeline_stages = pp, tensor_parallel_size = tp } }
function muster.exact_div(division)
  local place = host.here()
  local dividend
  if type(division) == "table" then
    for _, key in ipairs(host.sorted_keys(division)) do
      if key ~= "by" then
        if dividend then dividend = nil break end
        dividend = key
      end
    end
  end
  if type(dividend) ~= "string" or type(division.by) ~= "table" then
    host.stop("type", place, "exact_div wants { NAME = number, by = { NAME = number, … } }")
  end
  return host.exact_div(place, dividend, division[dividend], division.by)
end

-- size(bytes, "GB"): MindSpore's and most people's "3.5GB" as text; GiB and the like are 2^30-based.
function muster.size(bytes, unit)
  return host.size(host.here(), bytes, unit)
end

-- flags(p, { style = "argparse" | "hydra", only = { … }, except = { … } }): parameters as words of a command.
--   argparse: --lr 0.5, --verbose for true and nothing for false, --sizes 1 2 3 for lists
--   hydra:    lr=0.5, verbose=true, sizes=[1,2,3]
function muster.flags(parameters, options)
  local place = host.here()
  options = options or {}
  if type(parameters) ~= "table" or type(options) ~= "table" then
    host.stop("type", place, 'muster.flags wants p and { style = "argparse" }')
  end
  check_keys(options, { "style", "only", "except" }, "muster.flags", place)
  local style = options.style or "argparse"
  if style ~= "argparse" and style ~= "hydra" then
    host.stop("enum", place, "muster.flags: style is \"argparse\" or \"hydra\", got " .. shown(style))
  end
  local source = host.raw_metatable(parameters) and rawget(host.raw_metatable(parameters), "__muster_pairs") or parameters
  local function chosen(list)
    local set = {}
    for _, name in ipairs(list or {}) do
      if source[name] == nil then
        host.stop("unknown_key", place, ("muster.flags: there is no parameter %s"):format(shown(name)),
                  host.suggest(host.tostring(name), host.keys(source)))
      end
      set[name] = true
    end
    return set
  end
  local only, except = options.only and chosen(options.only), chosen(options.except)

  local words = {}
  local function plain(value) return value == nil and "null" or host.text(value) or (type(value) == "boolean" and host.tostring(value)) or host.json(value) end
  for _, name in ipairs(host.sorted_keys(source)) do
    local value = source[name]
    if (not only or only[name]) and not except[name] then
      if style == "hydra" then
        words[#words + 1] = name .. "=" .. plain(value)
      elseif value == true then
        words[#words + 1] = "--" .. name
      elseif type(value) == "table" and value[1] ~= nil then
        words[#words + 1] = "--" .. name
        for _, element in ipairs(value) do words[#words + 1] = plain(element) end
      elseif value ~= false then
        words[#words + 1] = "--" .. name
        words[#words + 1] = plain(value)
      end
    end
  end
  return words
end

-- The only way to a shell: the command is one text, run as /bin/sh -c TEXT.
function muster.shell(text)
  if type(text) ~= "string" then
    host.stop("type", host.here(), "muster.shell wants the text of a shell command, got " .. shown(text))
  end
  return seal("a shell command", { text = text })
end

-- A file beside the recipe, as an absolute path.
function muster.here(name)
  return host.beside(host.here(), name)
end

-- A text file beside the recipe, taken into the plan and written below the run directory: gives its absolute path there.
function muster.file(name)
  return host.ship(host.here(), name)
end

-- Removes an inherited variable: env = { LD_PRELOAD = muster.unset }.
muster.unset = seal("muster.unset", {})

return { api = muster, seal = seal, contents = contents, check_keys = check_keys }
