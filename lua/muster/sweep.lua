-- Sweeps as files describe them: muster.sweep { … }, spaces with their axes, samplers, early stopping. Passes plain
-- tables to the engine; C++ checks names and values against the recipe (src/lua/engine/recipe_sweep.cc).
local host, prelude, muster, parameters, recipes = ...

local api = muster.api
local contents = muster.contents

local function shown(value) return host.show(value) end

local SWEEP_KEYS = { "name", "doc", "recipe", "fixed", "space", "where", "sampler", "seed_points", "objective", "constraints",
                     "metrics", "early_stop", "retry", "budget", "stop_after", "skip_after", "seeds", "warm_start" }
-- By kind, with their options.
local SEALED_KINDS = {
  ["a sampler"] = host.samplers,
  ["a rule of early stopping"] = {
    asha = { "resource", "min", "max", "eta", "min_results", "promote" },
    hyperband = { "resource", "min", "max", "eta", "promote" },
    median = { "resource", "warmup", "min_finished" },
  },
}
local OPTIONS = {
  metrics = { "stdout", "role", "result" },
  retry = { "max", "on", "quarantine_host_after", "patterns", "verdict" },
  stop_after = { "failures", "no_gain" },
  skip_after = { "failures" },
  seeds = { "count", "param", "race", "rank_by" },
  budget = { "devices", "device_hours", "time", "trials", "slots", "per_device" },
}
local SEALED_PARTS = {
  { "sampler", "a sampler", "muster.random { seed = 1, trials = 100 }" },
  { "objective", "an objective", 'muster.minimize "loss"' },
  { "early_stop", "a rule of early stopping", 'muster.asha { resource = "step", min = 100, max = 6400, eta = 4 }' },
}
local MOST_NESTED = 12  -- levels of nested spaces

-- Axes ---------------------------------------------------------------------------------------------------------------

function api.choice(values)
  local place = host.here()
  if type(values) ~= "table" or muster.kind_of(values) then
    host.stop("type", place, "muster.choice expects a list of values, got " .. shown(values), "muster.choice { 1, 2, 4 }")
  end
  local why = host.why_not_plain(values)
  if why then host.stop("type", place, "muster.choice: " .. why) end
  local copied = {}
  for position, key in ipairs(host.sorted_keys(values)) do
    if key ~= position then
      host.stop("type", place, ("muster.choice expects a list of values, got the key %s"):format(shown(key)), "muster.choice { 1, 2, 4 }")
    end
    copied[position] = values[key]
  end
  return muster.seal("an axis", { axis = "choice", values = copied, place = place })
end

-- Limits are numbers, or texts in the format of the parameter's type: "1GiB".
local function ends_of(name, place, ...)
  local ends = { ... }
  for position = 1, select("#", ...) do
    local value = ends[position]
    if (type(value) ~= "number" and type(value) ~= "string") or value ~= value then
      host.stop("type", place, ("muster.%s expects numbers, got %s"):format(name, shown(value)), ("muster.%s(1, 8)"):format(name))
    end
  end
  return ends
end

for name, kind in pairs { uniform = "uniform", log_uniform = "log_uniform", int_uniform = "range", int_log_uniform = "int_log_uniform" } do
  api[name] = function(low, high)
    local place = host.here()
    return muster.seal("an axis", { axis = kind, values = ends_of(name, place, low, high), place = place })
  end
end

-- range(low, high) has steps of 1; quantised is a uniform number rounded to steps, which is the same set.
function api.range(low, high, step)
  local place = host.here()
  return muster.seal("an axis", { axis = "range", values = ends_of("range", place, low, high, step == nil and 1 or step), place = place })
end
function api.quantised(low, high, step)
  local place = host.here()
  return muster.seal("an axis", { axis = "range", values = ends_of("quantised", place, low, high, step), place = place })
end

-- Spaces -------------------------------------------------------------------------------------------------------------

local function copy(table)
  local copied = {}
  for _, key in ipairs(host.sorted_keys(table)) do copied[key] = rawget(table, key) end
  return copied
end

for _, kind in ipairs { "product", "zip", "union" } do
  api[kind] = function(entries)
    local place = host.here()
    if type(entries) ~= "table" or muster.kind_of(entries) then
      host.stop("type", place, ("muster.%s expects a table, got %s"):format(kind, shown(entries)),
                ("muster.%s { lr = muster.choice { 0.1, 0.01 } }"):format(kind))
    end
    return muster.seal("a space", { kind = kind, entries = copy(entries), place = place })
  end
end

-- when({ optimizer = { "adam", "sgd" } }, { … }): the space, restricted to points for which the condition holds.
function api.when(condition, space)
  local place = host.here()
  if type(condition) ~= "table" or muster.kind_of(condition) or type(space) ~= "table" then
    host.stop("type", place, "muster.when expects a condition and a space",
              'muster.when({ optimizer = "adam" }, { ["optimizer.beta1"] = { 0.9, 0.95 } })')
  end
  return muster.seal("a space", { kind = "when", condition = copy(condition), space = space, place = place })
end

-- The weights of the spaces of a union, a list of numbers; nil if none are given.
local function weights_of(union)
  local given = rawget(union.entries, "weights")
  if given == nil then return nil end
  local sound = type(given) == "table" and not muster.kind_of(given) and next(given) ~= nil
  local weights = {}
  for position, key in ipairs(sound and host.sorted_keys(given) or {}) do
    weights[position] = rawget(given, key)
    sound = sound and key == position and type(weights[position]) == "number" and weights[position] == weights[position]
  end
  if sound then return weights end
  host.report("error", "type", union.place, ("union: weights must be a list of numbers, one for each space, got %s"):format(shown(given)),
              "muster.union { { … }, { … }, weights = { 3, 1 } }")
  return nil
end

-- Calls `add` for each entry of a table that is named like a block of parameters or a variant; whether it is one.
local function each_of_block(declared, name, named, add)
  local what = parameters.what_is(declared, name) or (name == "cluster" and "block" or nil)
  if type(named) ~= "table" or what ~= "block" and what ~= "variant" or rawget(named, 1) ~= nil then return false end
  for _, key in ipairs(host.sorted_keys(named)) do
    local full = what == "variant" and key == "variant" and name or name .. "." .. host.tostring(key)
    add(full, rawget(named, key))
  end
  return true
end

-- A sealed space, or a plain table, which is a product, in the form of the engine.
local function space_of(declared, value, place, depth)
  if depth > MOST_NESTED then host.stop("space", place, ("spaces are nested deeper than %d"):format(MOST_NESTED)) end
  local space = contents(value, "a space")
  if not space then
    if type(value) ~= "table" or muster.kind_of(value) then
      host.report("error", "type", place, "a space must be a table or muster.product, zip, union or when, got " .. shown(value))
      return { kind = "product", parts = {}, place = place }
    end
    space = { kind = "product", entries = value, place = place }
  end
  local weights
  if space.kind == "union" then weights = weights_of(space) end
  if space.kind == "when" then
    local condition = {}
    for _, name in ipairs(host.sorted_keys(space.condition)) do
      local values = rawget(space.condition, name)
      local why = host.why_not_plain(values)
      if type(name) ~= "string" or why then
        host.report("error", "type", space.place, ("when: %s"):format(why or "the condition names parameters: { optimizer = \"adam\" }"))
      else
        condition[#condition + 1] = { name = name, values = type(values) == "table" and values or { values } }
      end
    end
    return { kind = "when", condition = condition, parts = { space_of(declared, space.space, space.place, depth + 1) }, place = space.place }
  end
  local parts = {}
  local function add(name, named)
    local axis = contents(named, "an axis")
    if axis then
      parts[#parts + 1] = { kind = "axis", name = name, axis = axis.axis, values = axis.values, place = axis.place }
      return
    end
    local kind = muster.kind_of(named)
    if kind then
      host.report("error", "type", space.place, ("%s: %s is not an axis"):format(name, kind),
                  kind == "a space" and "a space has no name in the table" or nil)
      return
    end
    if each_of_block(declared, name, named, add) then return end
    local why = host.why_not_plain(named)
    if why then
      host.report("error", "type", space.place, ("%s: %s"):format(name, why))
    elseif type(named) == "table" and (rawget(named, 1) ~= nil or next(named) == nil) then
      parts[#parts + 1] = { kind = "axis", name = name, axis = "choice", values = named, place = space.place }
    else
      parts[#parts + 1] = { kind = "fixed", name = name, value = named, place = space.place }
    end
  end
  local keys = host.sorted_keys(space.entries)
  for _, key in ipairs(keys) do
    if type(key) == "string" and not (space.kind == "union" and key == "weights") then
      if space.kind == "union" then
        host.report("error", "space", space.place, ("union: %s is not a space"):format(key),
                    ("muster.union { { %s = … }, { %s = … } }"):format(key, key))
      else
        add(key, rawget(space.entries, key))
      end
    end
  end
  for _, key in ipairs(keys) do
    if type(key) ~= "string" then parts[#parts + 1] = space_of(declared, rawget(space.entries, key), space.place, depth + 1) end
  end
  return { kind = space.kind, parts = parts, weights = weights, place = space.place }
end

-- The points that are tried first, each a list of names with their values.
local function seed_points_of(declared, given, place)
  local points = {}
  local function refuse(value)
    host.report("error", "type", place, "seed_points must be a list of points, got " .. shown(value),
                "seed_points = { { learning_rate = 0.1, batch_size = 64 } }")
  end
  if type(given) ~= "table" or muster.kind_of(given) then
    refuse(given)
    return points
  end
  for position, key in ipairs(host.sorted_keys(given)) do
    local entries = rawget(given, key)
    if key ~= position or type(entries) ~= "table" or muster.kind_of(entries) or rawget(entries, 1) ~= nil then
      refuse(given)
      return {}
    end
    local point = {}
    local function add(name, value)
      if muster.kind_of(value) == nil and each_of_block(declared, name, value, add) then return end
      local why = host.why_not_plain(value)
      if why or muster.kind_of(value) then
        host.report("error", "type", place, ("seed_points: %s: %s"):format(name, why or "a point has values, not axes"))
      else
        point[#point + 1] = { name = name, value = value }
      end
    end
    for _, name in ipairs(host.sorted_keys(entries)) do add(host.tostring(name), rawget(entries, name)) end
    points[position] = point
  end
  return points
end

-- Other fields of a sweep ---------------------------------------------------------------------------------------------

-- The options of a constructor as a plain table with its place.
local function options_of(name, given, place, known)
  if given == nil then given = {} end
  if type(given) ~= "table" or muster.kind_of(given) then
    host.stop("type", place, ("%s expects a table of options, got %s"):format(name, shown(given)))
  end
  muster.check_keys(given, known, name, place)
  local why = host.why_not_plain(given)
  if why then host.stop("type", place, ("%s: %s"):format(name, why)) end
  local copied = copy(given)
  copied.place = place
  return copied
end

for sealed, kinds in pairs(SEALED_KINDS) do
  for kind, known in pairs(kinds) do
    api[kind] = function(given)
      local options = options_of("muster." .. kind, given, host.here(), known)
      options.kind = kind
      return muster.seal(sealed, options)
    end
  end
end

for name, maximize in pairs { minimize = false, maximize = true } do
  api[name] = function(metric)
    local place = host.here()
    if type(metric) ~= "string" or metric == "" then
      host.stop("type", place, ("muster.%s expects the name of a metric, got %s"):format(name, shown(metric)), ('muster.%s "loss"'):format(name))
    end
    return muster.seal("an objective", { metric = metric, maximize = maximize, place = place })
  end
end

-- A list of one or two objectives: the first one, and the contents of the second.
local function two_objectives(given, place)
  local keys = host.sorted_keys(given)
  local sound = #keys == 1 or #keys == 2
  for position, key in ipairs(keys) do sound = sound and key == position and contents(rawget(given, key), "an objective") ~= nil end
  if sound then return rawget(given, 1), contents(rawget(given, 2), "an objective") end
  host.report("error", "type", place, "objective must be an objective, or a list of two, got " .. shown(given),
              'objective = { muster.minimize "loss", muster.minimize "latency" }')
  return nil, nil
end

-- What metrics of the best trial have to be, as texts.
local function constraints_of(given, place)
  local texts = {}
  local sound = type(given) == "table" and not muster.kind_of(given)
  for position, key in ipairs(sound and host.sorted_keys(given) or {}) do
    texts[position] = rawget(given, key)
    sound = sound and key == position and type(texts[position]) == "string"
  end
  if sound then return texts end
  host.report("error", "type", place, "constraints must be a list of texts, got " .. shown(given), 'constraints = { "memory <= 58GiB" }')
  return {}
end

-- The metrics of a sweep with patterns by name, as a recipe gives them, among those of `stdout`.
local function with_patterns(metrics)
  if type(metrics) ~= "table" or muster.kind_of(metrics) then return metrics end
  local given, patterns = {}, {}
  for _, name in ipairs(host.sorted_keys(metrics)) do
    local value = rawget(metrics, name)
    if type(name) == "string" and type(value) == "string" and name ~= "role" and name ~= "result" and name ~= "stdout" then
      patterns[name] = value
    else
      given[name] = value
    end
  end
  if next(patterns) == nil then return metrics end
  if type(given.stdout) == "table" then
    for _, name in ipairs(host.sorted_keys(given.stdout)) do patterns[name] = rawget(given.stdout, name) end
  end
  given.stdout = patterns
  return given
end

-- The recipe of all trials: the sweep's, extended by `fixed`.
local function recipe_of(given, place)
  local base = contents(given.recipe, "a recipe")
  if not base then
    host.stop(given.recipe == nil and "missing" or "type", place,
              given.recipe == nil and "the sweep has no recipe" or "recipe must be a recipe, got " .. shown(given.recipe),
              'recipe = muster.load "gpt.lua"')
  end
  if given.fixed == nil then return given.recipe end
  if type(given.fixed) ~= "table" or muster.kind_of(given.fixed) then
    host.report("error", "type", place, "fixed must be a table of values, got " .. shown(given.fixed), "fixed = { steps = 1000 }")
    return given.recipe
  end
  local params, cluster = copy(given.fixed), nil
  for _, name in ipairs { "hosts", "devices_per_host" } do
    if params[name] ~= nil and not parameters.what_is(base.scope.declared, name) then
      cluster = cluster or {}
      cluster[name], params[name] = params[name], nil
    end
  end
  if type(params.cluster) == "table" and not parameters.what_is(base.scope.declared, "cluster") then
    cluster = cluster or {}
    for _, key in ipairs(host.sorted_keys(params.cluster)) do cluster[key] = rawget(params.cluster, key) end
    params.cluster = nil
  end
  return recipes.extended(given.recipe, { params = params, cluster = cluster }, place)
end

function api.sweep(given)
  local place = host.here()
  if type(given) ~= "table" or muster.kind_of(given) then
    host.stop("type", place, "muster.sweep expects a table, got " .. shown(given))
  end
  muster.check_keys(given, SWEEP_KEYS, "a sweep", place)
  local recipe = recipe_of(given, place)
  local base = contents(recipe, "a recipe")
  local plain = { place = place, name = given.name, doc = given.doc, warm_start = given.warm_start }
  plain.fixed = type(given.fixed) == "table" and not muster.kind_of(given.fixed) and host.sorted_keys(given.fixed) or {}
  for _, key in ipairs { "name", "doc", "warm_start" } do
    if given[key] ~= nil and type(given[key]) ~= "string" then
      host.report("error", "type", place, ("%s must be a string, got %s"):format(key, shown(given[key])))
      plain[key] = nil
    end
  end
  if given.name == nil then plain.name = base.name end
  if given.space == nil then
    host.report("error", "missing", place, "the sweep has no space", "space = muster.product { learning_rate = { 0.1, 0.01 } }")
    plain.space = { kind = "product", parts = {}, place = place }
  else
    plain.space = space_of(base.scope.declared, given.space, place, 1)
    local sealed = contents(given.space, "a space")
    local entries = sealed and sealed.entries or not muster.kind_of(given.space) and given.space
    if type(entries) == "table" and next(entries) == nil then
      host.report("error", "missing", place, "the space of the sweep is empty: it names no parameter to vary",
                  "space = { learning_rate = { 0.1, 0.01 } }; one point is a run: muster run")
    end
  end
  if given.seed_points ~= nil then plain.seed_points = seed_points_of(base.scope.declared, given.seed_points, place) end
  if type(given.objective) == "table" and not muster.kind_of(given.objective) then
    given = copy(given)
    given.objective, plain.second_objective = two_objectives(given.objective, place)
  end
  for _, part in ipairs(SEALED_PARTS) do
    local key = part[1]
    plain[key] = contents(given[key], part[2])
    if given[key] ~= nil and not plain[key] then
      host.report("error", "type", place, ("%s must be %s, got %s"):format(key, part[2], shown(given[key])), ("%s = %s"):format(key, part[3]))
    end
  end
  if given.constraints ~= nil then plain.constraints = constraints_of(given.constraints, place) end
  if type(given.seeds) == "number" then
    given = copy(given)
    given.seeds = { count = given.seeds }
  end
  for _, key in ipairs { "metrics", "retry", "budget", "stop_after", "skip_after", "seeds" } do
    if given[key] ~= nil then plain[key] = options_of(key, key == "metrics" and with_patterns(given[key]) or given[key], place, OPTIONS[key]) end
  end
  if given.where ~= nil and type(given.where) ~= "function" then
    host.report("error", "type", place, "where must be a function, got " .. shown(given.where),
                'where = function(p, d) return d.bubble <= 0.15, "the pipeline idles too much" end')
  end
  return muster.seal("a sweep", { recipe = recipe, where = type(given.where) == "function" and given.where or nil, plain = plain })
end

-- Conditions ---------------------------------------------------------------------------------------------------------

-- The argument `d` of a condition: the derived values of the plan function, and the size of the job.
local function facts_of(job)
  local facts = {}
  for _, name in ipairs { "hosts", "devices_per_host", "devices" } do facts[name] = job.cluster[name] end
  facts.device_num = host.setting("set_auto_parallel_context", "device_num") or job.cluster.devices
  for name, derived in pairs(job.derived) do facts[name] = derived.value end
  return facts
end

-- Conditions of the command line: each is an expression in the environment of a recipe, extended by the names of
-- derived values and parameters. They are compiled once.
local compiled = {}
local asked = {}  -- the point that is judged: p, inside (the table behind p) and d

local scope = setmetatable({}, {
  __index = function(_, key)
    if asked.d[key] ~= nil then return asked.d[key] end
    if asked.inside[key] ~= nil or host.former_name(host.tostring(key)) then return asked.p[key] end
    local global = rawget(prelude.globals, key)
    if global ~= nil then return global end
    local known = host.keys(asked.d)
    for _, name in ipairs(host.keys(asked.inside)) do known[#known + 1] = name end
    host.stop("usage", 0, ("--where %s: %s is neither a parameter nor derived by the recipe"):format(shown(asked.text), host.tostring(key)),
              host.suggest(host.tostring(key), known))
  end,
  __newindex = function() error("a condition sets nothing", 0) end,
  __metatable = false,
})

local function holds(text)
  local chunk = compiled[text]
  if not chunk then
    local problem
    chunk, problem = host.load("return " .. text, "=--where", scope)
    if not chunk then
      host.stop("usage", 0, ("--where %s is not an expression: %s"):format(shown(text), (problem:gsub("^%-%-where:%d+: ", ""))), "--where 'bubble < 0.2'")
    end
    compiled[text] = chunk
  end
  asked.text = text
  local done, value = pcall(chunk)
  if not done then
    host.stop_if_errors()
    host.stop("usage", 0, ("--where %s: %s"):format(shown(text), (host.tostring(value):gsub("^%-%-where:%d+: ", ""))))
  elseif type(value) ~= "boolean" then
    host.stop("usage", 0, ("--where %s is %s, and a condition is true or false"):format(shown(text), shown(value)), "--where 'bubble < 0.2'")
  end
  return value
end

-- Called for a point whose job was described without errors; reports the conditions that do not hold.
local function judge(where, texts, p, job)
  local d = facts_of(job)
  if where then
    local met, reason, place = host.call_where(where, p, prelude.read_only(d, "the derived values"))
    if not met then
      host.report("error", "where", place, type(reason) == "string" and reason or "the sweep's condition does not hold")
      return
    end
  end
  if #texts == 0 then return end
  asked.p, asked.inside, asked.d = p, parameters.view_of(p).inside, d
  for _, text in ipairs(texts) do
    if not holds(text) then
      host.report("error", "where", 0, text .. " does not hold")
      return
    end
  end
end

return { judge = judge }
