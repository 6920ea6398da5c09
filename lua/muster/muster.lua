-- The module "muster": values and files that recipes are made of. parameters.lua and recipe.lua add the rest; the
-- engine checks parameters and calls the plan function (job.lua). Returns { api = what recipes see, … = what muster's
-- other files use }. `sections` is the list in recipe_fields.lua.
local host, prelude, sections = ...

local muster = { null = host.null }

local function shown(value) return host.show(value) end

-- Constructors return sealed values: a recipe can only pass them on, so a value that was checked cannot change.
-- Contents are found by the object's identity. `methods` are the only fields that a recipe can read.
local sealed = setmetatable({}, { __mode = "k" })
local function seal(kind, contents, methods)
  local object = setmetatable({}, {
    __index = function(_, key)
      if methods and methods[key] then return methods[key] end
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

local function kind_of(object) return sealed[object] and sealed[object].kind or nil end

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

local sections_by_name = {}
for _, section in ipairs(sections) do sections_by_name[section.name] = section end

-- The names of a section's fields, in order: all, those with that mark, or those without it.
local function field_names(section, mark, without)
  local names = {}
  for _, field in ipairs(sections_by_name[section].fields) do
    if not mark or (field[mark] == nil) == (without == true) then names[#names + 1] = field.name end
  end
  return names
end

local function field_of(section, name)
  for _, field in ipairs(sections_by_name[section].fields) do
    if field.name == name then return field end
  end
end

-- The allowed words of a field, and the same as a text for messages: "pack" or "deal".
local function field_words(section, name)
  local words = field_of(section, name).words
  return words, ('"%s" or "%s"'):format(table.concat(words, '", "', 1, #words - 1), words[#words])
end

local function is_word(words, value)
  for _, word in ipairs(words) do
    if word == value then return true end
  end
  return false
end

-- The default of a field whose default is a value.
local function field_default(section, name) return (field_of(section, name).default:gsub('^"(.*)"$', "%1")) end

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
    host.stop("type", place, "exact_div expects { NAME = number, by = { NAME = number, … } }")
  end
  return host.exact_div(place, dividend, division[dividend], division.by)
end

-- size(bytes, "GB"): "3.5GB" as text, with units as in MindSpore and elsewhere: GB is 10^9, GiB 2^30.
function muster.size(bytes, unit)
  return host.size(host.here(), bytes, unit)
end

-- A shell command: TEXT is run as /bin/sh -c TEXT. Other commands use no shell.
function muster.shell(text)
  if type(text) ~= "string" then
    host.stop("type", host.here(), "muster.shell expects the text of a shell command, got " .. shown(text))
  end
  return seal("a shell command", { text = text })
end

-- The name relative to the folder of the recipe that is run: names in a recipe loaded from a subfolder are relative to
-- that one.
local function beside(place, name)
  if type(name) ~= "string" or name:sub(1, 1) == "/" then return name end
  return prelude.folder(place) .. name
end

-- The absolute path of a file beside the recipe.
function muster.here(name)
  local place = host.here()
  return host.beside(place, beside(place, name))
end

-- Copies a text file beside the recipe into the plan and below the run directory; returns its absolute path there.
function muster.file(name)
  local place = host.here()
  return host.ship(place, beside(place, name))
end

-- The tables of files that were read: table -> { file, path of the table in it }.
local of_file = setmetatable({}, { __mode = "k" })

local function remember(value, file, path)
  if type(value) ~= "table" then return value end
  of_file[value] = { file = file, path = path }
  for key, inner in pairs(value) do remember(inner, file, path .. (path == "" and "" or ".") .. host.tostring(key)) end
  return value
end

-- Reads a file beside the recipe, an input of the plan, as a value: lists and maps are tables, null is muster.null.
for format, read in pairs { json = host.value_of_json, yaml = host.value_of_yaml } do
  muster["read_" .. format] = function(name)
    local place = host.here()
    if type(name) ~= "string" or name == "" then
      host.stop("type", place, ("muster.read_%s expects the name of a file beside the recipe"):format(format))
    end
    local text, file = host.read_beside(beside(place, name))
    if not text then
      host.stop("missing_path", place, ("muster.read_%s: %s is not beside the recipe: %s"):format(format, name, file))
    end
    return remember(read(text, file, place), file, "")
  end
end

-- The key of a table that a part of a path names: of a list its number.
local function key_in(table, part)
  if rawget(table, part) ~= nil then return part end
  local number = tonumber(part)
  return number and rawget(table, number) ~= nil and number or nil
end

-- Sets one value in a table that was read from a file; the table has all keys of the path already.
local function override(from, path, value, place)
  local what = "muster.override"
  if type(path) ~= "string" or path == "" then
    host.stop("type", place, ("%s: the path of a value must be a text, got %s"):format(what, shown(path)), '"optimizer.lr"')
  end
  local why = host.why_not_plain(value)
  if value == nil or why then
    host.stop("type", place, ("%s: %s: %s"):format(what, path, why or "the new value is nil"), value == nil and "null is muster.null" or nil)
  end
  -- A key may have dots itself.
  local last, key = from, key_in(from, path)
  if not key then
    local parts = {}
    for part in (path .. "."):gmatch("(.-)%.") do parts[#parts + 1] = part end
    for i, part in ipairs(parts) do
      local here = type(last) == "table" and of_file[last]
      local shown_at = here and here.path ~= "" and here.path .. "." or ""
      local name = here and here.file or "the table"
      if type(last) ~= "table" then
        host.stop("unknown_key", place, ("%s: %s: %s is %s, not a block"):format(what, path, table.concat(parts, ".", 1, i - 1), shown(last)))
      end
      key = key_in(last, part)
      if key == nil then
        local keys = host.keys(last)
        host.stop("unknown_key", place, ("%s: %s has no key %s%s"):format(what, name, shown_at, part),
                  host.nearest(part, keys) or (#keys > 0 and "its keys there are " .. table.concat(keys, ", ", 1, math.min(#keys, 12)) .. (#keys > 12 and ", …" or "")) or nil)
      end
      if i < #parts then last = rawget(last, key) end
    end
  end
  local before = rawget(last, key)
  if type(before) == "table" and type(value) ~= "table" and value ~= host.null then
    host.stop("type", place, ("%s: %s is a %s, and would become %s"):format(what, path, before[1] ~= nil and "list" or "block", shown(value)))
  end
  last[key] = value
end

-- override(table, path, value) or override(table, { [path] = value, … }): sets values in a table that was read from a
-- file, "optimizer.lr" or "layers.2.size", and refuses keys that the table does not have. Returns the table.
function muster.override(from, path, value)
  local place = host.here()
  if type(from) ~= "table" or sealed[from] then
    host.stop("type", place, ("muster.override expects a table of muster.read_yaml or muster.read_json, got %s"):format(shown(from)),
              'muster.override(conf, "optimizer.lr", 0.1)')
  end
  if type(path) == "table" and value == nil then
    for _, each in ipairs(host.sorted_keys(path)) do override(from, each, path[each], place) end
  else
    override(from, path, value, place)
  end
  return from
end

-- The return value of a site file: facts about machines (docs/site.md), checked by src/plan/environment/site_file.cc.
function muster.site(facts)
  if type(facts) ~= "table" then
    host.stop("type", host.here(), "muster.site expects a table, got " .. shown(facts), 'return muster.site { hosts = "n[01-04]:8" }')
  end
  return seal("a site file", facts)
end

-- Removes an inherited variable: env = { LD_PRELOAD = muster.unset }.
muster.unset = seal("muster.unset", {})

return { api = muster, seal = seal, contents = contents, kind_of = kind_of, check_keys = check_keys,
         sections = sections_by_name, field_names = field_names, field_words = field_words, is_word = is_word,
         field_default = field_default }
