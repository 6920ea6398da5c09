-- Parameters as recipes declare them and as plan functions see them: constructors, blocks, variants, values set in
-- recipes, and command-line arguments. The engine checks whether values are allowed.
local host, muster = ...

local api = muster.api
local contents = muster.contents

local function shown(value) return host.show(value) end

local MOST_BLOCKS = 8  -- levels of nested blocks

local function fields_of(kind, declaration)
  local fields = { type = kind }
  if type(declaration) == "table" and not muster.kind_of(declaration) then
    for key, value in pairs(declaration) do
      -- A list's default may be in the declaration itself: muster.list { { 1, 2 } }.
      fields[type(key) == "number" and host.tostring(key) or key] = value
    end
  elseif declaration ~= nil then
    fields["1"] = declaration
  end
  return fields
end

-- Example declarations of each type, for hints.
local EXAMPLES = {}
for _, field in ipairs(muster.sections.parameters.fields) do EXAMPLES[field.name] = field.declaration end
local KINDS = muster.field_names("parameters", "declaration")
local constructors = {}  -- function -> its name

for _, kind in ipairs(KINDS) do
  api[kind] = function(declaration)
    return muster.seal("a parameter", { fields = fields_of(kind, declaration), place = host.here() })
  end
  constructors[api[kind]] = kind
end

-- variant { "adam", one_of = { adam = { lr = muster.float { 1e-3 } }, sgd = { … } } }: a choice between sets of parameters.
function api.variant(declaration)
  local place = host.here()
  local fields = fields_of("enum", declaration)
  local choices = fields.one_of
  if type(choices) ~= "table" or muster.kind_of(choices) or next(choices) == nil then
    host.stop("parameter", place, "muster.variant expects the parameters of each variant by its name",
              'muster.variant { "adam", one_of = { adam = { lr = muster.float { 1e-3 } }, sgd = { lr = muster.float { 0.1 } } } }')
  end
  local names = {}
  for _, name in ipairs(host.sorted_keys(choices)) do
    if type(name) ~= "string" or not name:match("^[%w_-]+$") or #name > 100 then
      host.stop("parameter", place, ("muster.variant: %s is not a valid name for a variant"):format(shown(name)),
                "names are letters, digits, '_' and '-'")
    end
    local block = choices[name]
    if type(block) ~= "table" or muster.kind_of(block) then
      host.stop("parameter", place, ("muster.variant: %s must be a table of parameters, got %s"):format(name, shown(block)),
                ("a variant without parameters is written %s = {}"):format(name))
    end
    names[#names + 1] = name
  end
  fields.one_of = names
  return muster.seal("a variant", { fields = fields, choices = choices, names = names, place = place })
end

-- Whether a table contains parameters, at any depth.
local function has_parameters(table, depth)
  if type(table) ~= "table" or muster.kind_of(table) or depth > MOST_BLOCKS then return false end
  for _, value in pairs(table) do
    if contents(value, "a parameter") or contents(value, "a variant") or has_parameters(value, depth + 1) then return true end
  end
  return false
end

-- The constructor for the type of a plain value.
local function type_for(value)
  if type(value) == "number" then return value % 1 == 0 and "int" or "float" end
  return ({ boolean = "bool", string = "string", table = "list" })[type(value)] or "string"
end

local function is_name(name)
  return type(name) == "string" and name:match("^[%a_][%w_]*$") ~= nil and #name <= 100
end

-- The parameters that a recipe declares, and the values that its extensions and profiles set:
--   declared  list of { name = "optimizer.lr", fields, place, variant, when = { optimizer = "adam" } }
--   values    list of { name, value, place }: of extensions
local function find(declared, name, when)
  for position, known in ipairs(declared) do
    local same = known.name == name
    for chooser, choice in pairs(when or {}) do same = same and known.when[chooser] == choice end
    if same then return known, position end
  end
end

local function starts(text, beginning) return text:sub(1, #beginning) == beginning end

-- The kind of the name: "block", "variant", "parameter" or nil.
local function what_is(declared, name)
  local known = find(declared, name)
  if known then return known.variant and "variant" or "parameter" end
  for _, each in ipairs(declared) do
    if starts(each.name, name .. ".") then return "block" end
  end
end

-- Removes the declarations and values of the name and of all names below it.
local function forget(scope, name)
  for _, list in ipairs { scope.declared, scope.values } do
    for position = #list, 1, -1 do
      local known = list[position].name
      if known == name or starts(known, name .. ".") then table.remove(list, position) end
    end
  end
end

local declare_block

local function declare(scope, name, when, declaration, place, depth)
  local variant = contents(declaration, "a variant")
  local made = variant or contents(declaration, "a parameter")
  local known = find(scope.declared, name, when)
  if known and known.fresh then  -- declared twice by the same table: a block and a name with a dot
    host.report("error", "parameter", place, ("parameter %s is declared twice"):format(name))
    return
  end
  if known and next(known.when) ~= nil and next(when) == nil then
    host.report("error", "parameter", place, ("parameter %s belongs to a variant of the recipe that is extended"):format(name),
                "declare the whole variant again to change it", { { "declared here", known.place } })
    return
  end
  if known then
    if known.fields.type ~= made.fields.type or (known.variant and not variant) then
      host.report("error", "parameter", place, ("parameter %s has the type %s in the recipe that is extended, and is declared with %s"):format(
                  name, known.variant and "variant" or known.fields.type, variant and "variant" or made.fields.type), nil,
                  { { "declared here", known.place } })
      return
    end
    forget(scope, name)
  end
  local copied = {}
  for chooser, choice in pairs(when) do copied[chooser] = choice end
  scope.declared[#scope.declared + 1] =
      { name = name, fields = made.fields, place = made.place, when = copied, variant = variant ~= nil, fresh = true }
  for _, choice in ipairs(variant and variant.names or {}) do
    local inner = { [name] = choice }
    for chooser, chosen in pairs(when) do inner[chooser] = chosen end
    declare_block(scope, name .. ".", inner, variant.choices[choice], made.place, depth + 1)
  end
end

-- Declares the parameters of a table that may contain nothing else.
function declare_block(scope, prefix, when, block, place, depth)
  if depth > MOST_BLOCKS then
    host.stop("parameter", place, ("blocks of parameters are nested deeper than %d, or contain themselves"):format(MOST_BLOCKS))
  end
  for _, name in ipairs(host.sorted_keys(block)) do
    local value = rawget(block, name)
    local full = prefix .. host.tostring(name)
    if not is_name(name) then
      host.report("error", "parameter", place, ("%s is not a valid name for a parameter"):format(shown(name)),
                  "names are letters, digits and '_', and begin with no digit")
    elseif name == "variant" and next(when) ~= nil then
      host.report("error", "parameter", place, ("%s is not a valid name for a parameter: p.%s is the name of the variant"):format(full, full))
    elseif contents(value, "a parameter") or contents(value, "a variant") then
      declare(scope, full, when, value, place, depth)
    elseif has_parameters(value, 1) and full ~= "cluster" then
      declare_block(scope, full .. ".", when, value, place, depth + 1)
    elseif full == "cluster" then
      host.report("error", "parameter", place, "cluster is not a valid name for a block of parameters",
                  "cluster.hosts and cluster.devices_per_host are the job's")
    elseif constructors[value] then
      host.report("error", "parameter", place, ("parameter %s: muster.%s is a function, and is not called"):format(full, constructors[value]),
                  ("write its default behind it: %s = muster.%s %s"):format(host.tostring(name), constructors[value], EXAMPLES[constructors[value]]))
    else
      host.report("error", "parameter", place, ("parameter %s is not declared with a type"):format(full),
                  type(value) == "function" and "the types are muster." .. table.concat(KINDS, ", muster.")
                    or ("write: %s = muster.%s { %s }"):format(host.tostring(name), type_for(value), shown(value)))
    end
  end
end

-- Adds the values of a table to the list, by full names: { optimizer = { variant = "sgd", lr = 0.1 }, layers = 2 }.
local function read_values(declared, prefix, values, place, into, on_declaration)
  for _, key in ipairs(host.sorted_keys(values)) do
    local value = rawget(values, key)
    local name = prefix .. host.tostring(key)
    local what = what_is(declared, name)
    local is_table = type(value) == "table" and not muster.kind_of(value)
    if contents(value, "a parameter") or contents(value, "a variant") or (is_table and not what and has_parameters(value, 1)) then
      on_declaration(name, key, value)
    elseif is_table and (what == "block" or what == "variant") then
      if what == "variant" and rawget(value, "variant") ~= nil then
        into[#into + 1] = { name = name, value = rawget(value, "variant"), place = place }
      end
      local rest = {}
      for _, inner in ipairs(host.sorted_keys(value)) do
        if what ~= "variant" or inner ~= "variant" then rest[inner] = rawget(value, inner) end
      end
      read_values(declared, name .. ".", rest, place, into, on_declaration)
    elseif what == "block" then
      host.report("error", "parameter", place, ("%s must be a block of parameters, got %s"):format(name, shown(value)),
                  ("write: %s = { … }"):format(host.tostring(key)))
    else
      local why = host.why_not_plain(value)
      if why then
        host.report("error", "type", place, ("parameter %s: %s"):format(name, why))
      else
        into[#into + 1] = { name = name, value = value, place = place }
      end
    end
  end
end

-- The declarations and values of a recipe or an extension, on top of those of `base`.
local function read(params, place, base)
  local scope = { declared = {}, values = {} }
  if base then
    for _, each in ipairs(base.declared) do
      local copy = {}
      for key, value in pairs(each) do copy[key] = value end
      copy.fresh = nil
      scope.declared[#scope.declared + 1] = copy
    end
    for _, each in ipairs(base.values) do scope.values[#scope.values + 1] = each end
  end
  if not base then
    declare_block(scope, "", {}, params, place, 1)
    return scope
  end
  local said, declarations = {}, {}
  read_values(scope.declared, "", params, place, said, function(name, key, value)
    declarations[#declarations + 1] = { name = name, key = key, value = value }
  end)
  for _, each in ipairs(declarations) do
    local prefix = each.name:sub(1, #each.name - #host.tostring(each.key))
    declare_block(scope, prefix, {}, { [each.key] = each.value }, place, 1)
  end
  for _, each in ipairs(said) do scope.values[#scope.values + 1] = each end
  return scope
end

-- A profile's values: those of parameters, and hosts and devices_per_host.
local function read_profile(scope, values, place, what, into)
  read_values(scope.declared, "", values, place, into, function(name)
    host.report("error", "parameter", place, ("%s declares %s, and a profile only gives values"):format(what, name),
                "declare it in params")
  end)
end

-- What a plan function sees of its parameters. `values` has them by full name, `variants` says which of these are
-- variants. `source` is the table behind each table that recipes get.
local views = setmetatable({}, { __mode = "k" })

local function view(values, variants)
  local tracked = host.tracks()
  local function node(name)
    local inside = {}
    local names
    local object
    local what = name == "" and "p" or "p." .. name
    object = setmetatable({}, {
      __index = function(_, key)
        local value = inside[key]
        if value == nil then
          names = names or host.keys(inside)
          local full = (name == "" and "" or name .. ".") .. host.tostring(key)
          local since = host.former_name(full)
          local last = since and since:match("[^.]+$")
          if last and inside[last] ~= nil then  -- in the same block
            host.report("warning", "renamed", host.here(), ("parameter %s is now called %s"):format(full, since), "write p." .. since)
            return object[last]
          end
          host.stop("unknown_key", host.here(), ("there is no parameter %s"):format(full),
                    host.suggest(host.tostring(key), names))
        end
        if tracked and not views[value] then
          host.read(key == "variant" and variants[name] and name or (name == "" and "" or name .. ".") .. key)
        end
        return value
      end,
      __newindex = function(_, key)
        host.stop("read_only", host.here(), ("parameter %s cannot be set"):format((name == "" and "" or name .. ".") .. host.tostring(key)),
                  "parameters are what the user chose; compute into a local variable")
      end,
      __concat = function()
        host.stop("type", host.here(), ("%s is a block of parameters, not a text"):format(what),
                  variants[name] and ("%s.variant is the name of the variant"):format(what) or nil)
      end,
      __metatable = false,
      __muster_pairs = inside,
      __muster_reads = tracked and host.read_all or nil,
    })
    views[object] = { inside = inside, name = name, variant = variants[name] }
    return object, inside
  end
  local top, inside_top = node("")
  local blocks = { [""] = inside_top }
  local function block(name)
    if blocks[name] then return blocks[name] end
    local parent, last = name:match("^(.*)%.([^.]+)$")
    local object, inside = node(name)
    blocks[name] = inside
    block(parent or "")[last or name] = object
    return inside
  end
  for _, name in ipairs(host.sorted_keys(values)) do
    if variants[name] then
      block(name).variant = values[name]
    else
      local parent, last = name:match("^(.*)%.([^.]+)$")
      local inside = block(parent or "")
      inside[last or name] = values[name]
      host.keep_number(values, name, inside, last or name)
    end
  end
  return top
end

local function view_of(value) return type(value) == "table" and views[value] or nil end

-- A text that Hydra's parser reads as this text only in quotes, although it consists of plain characters.
local HYDRA_WORDS = { null = true, ["true"] = true, ["false"] = true, inf = true, nan = true }

-- A text for Hydra's override grammar (OverrideLexer.g4, OverrideParser.g4): without quotes if it begins with a letter or
-- '/' and holds nothing that is more than itself there, else in double quotes. Within quotes a quote is escaped by a
-- backslash, and backslashes are doubled only in front of a quote.
local function hydra_text(text)
  if text:match("^%${muster:port:[^}]*}$") or text == host.hole("attempt") then return text end  -- numbers
  if text:match("^[%a_/][%w_/.%%+*@?|:-]*$") and not HYDRA_WORDS[text:lower()] then return text end
  return '"' .. (text .. '"'):gsub('(\\*)"', function(backslashes) return backslashes .. backslashes .. '\\"' end):sub(1, -3) .. '"'
end

-- Whether Hydra reads the text as a number: 1, -1.5e3, 1_000.
local function is_hydra_number(text)
  local digits = text:gsub("^[+-]", ""):gsub("[eE][+-]?%d[%d_]*$", "")
  return digits:find("%d") and digits:match("^[%d_]*%.?[%d_]*$") ~= nil
end

-- A key of a map for the same grammar, which knows no quotes there: or nil and why it cannot be written.
local function hydra_key(key)
  if key:match("^-?[1-9]%d*$") or key == "0" then return key end
  if HYDRA_WORDS[key:lower()] or is_hydra_number(key) or key:lower():match("^[+-]inf$") or key:lower():match("^[+-]nan$") then
    return nil, "Hydra reads it as another type"
  end
  if key == "" or key:find("[^%w_/%-\\+.$%%*@?|()%[%]{}:=, \t]") or key:find("${", 1, true) then
    return nil, "Hydra's grammar has no form for it"
  end
  return (key:gsub("[\\()%[%]{}:=, \t]", "\\%0"))
end

-- A number for argparse in a list, where it tells options from values by their form: no exponent behind a minus.
local function argparse_element(text)
  local digits, fraction, exponent = text:match("^-(%d+)%.?(%d*)e([+-]?%d+)$")
  if not digits then return text end
  local point = #digits + tonumber(exponent)
  local all = digits .. fraction
  if point <= 0 then return "-0." .. ("0"):rep(-point) .. all end
  if point >= #all then return "-" .. all .. ("0"):rep(point - #all) .. ".0" end
  return "-" .. all:sub(1, point) .. "." .. all:sub(point + 1)
end

-- flags(p, { style = "argparse" | "hydra", … }): parameters as command-line arguments.
--   argparse: --lr 0.5, --verbose for true and nothing for false, --sizes 1 2 3 for lists, --name=-x for a value that
--             begins with '-'
--   hydra:    lr=0.5, verbose=true, sizes=[1,2,3], texts quoted as its override grammar requires
-- Blocks and variants: --optimizer sgd --optimizer.lr 0.1.
function api.flags(parameters, options)
  local place = host.here()
  options = options or {}
  if type(parameters) ~= "table" or type(options) ~= "table" then
    host.stop("type", place, 'muster.flags expects p and { style = "argparse" }')
  end
  muster.check_keys(options, { "style", "only", "except", "dashes", "lists" }, "muster.flags", place)
  local style, lists = options.style or "argparse", options.lists or "words"
  if style ~= "argparse" and style ~= "hydra" then
    host.stop("enum", place, "muster.flags: style must be \"argparse\" or \"hydra\", got " .. shown(style))
  elseif lists ~= "words" and lists ~= "repeat" then
    host.stop("enum", place, "muster.flags: lists must be \"words\" or \"repeat\", got " .. shown(lists))
  elseif options.dashes ~= nil and type(options.dashes) ~= "boolean" then
    host.stop("type", place, "muster.flags: dashes must be true or false, got " .. shown(options.dashes))
  elseif style == "hydra" and (options.dashes or options.lists) then
    host.stop("conflict", place, ("muster.flags: %s belongs to argparse, not to hydra"):format(options.dashes and "dashes" or "lists"))
  end

  local flat, numbers = {}, {}  -- values by full name, and the texts of those that are numbers
  local known = {}
  local function flatten(source, prefix, skip)
    for _, key in ipairs(host.sorted_keys(source)) do
      local value = source[key]
      local name = prefix .. host.tostring(key)
      local inner = view_of(value)
      if key ~= skip then
        known[name] = true
        if inner then
          if inner.variant then flat[name] = inner.inside.variant end
          flatten(inner.inside, name .. ".", inner.variant and "variant" or nil)
        else
          flat[name], numbers[name] = value, host.number_text(source, key)
        end
      end
    end
  end
  local own = view_of(parameters)
  if own then host.read_all() end
  local meta = host.raw_metatable(parameters)
  flatten(own and own.inside or meta and rawget(meta, "__muster_pairs") or parameters, "", own and own.variant and "variant" or nil)

  local function chosen(list)
    local set = {}
    for _, name in ipairs(list or {}) do
      if not known[name] then
        host.stop("unknown_key", place, ("muster.flags: there is no parameter %s"):format(shown(name)),
                  host.suggest(host.tostring(name), host.keys(known)))
      end
      set[name] = true
    end
    return set
  end
  -- The name of a block covers all parameters in it.
  local function is_in(set, name)
    while name do
      if set[name] then return true end
      name = name:match("^(.*)%.[^.]+$")
    end
    return false
  end
  local only, except = options.only and chosen(options.only), chosen(options.except)

  local words = {}
  local function refuse(name, what, hint) host.stop("flags", place, ("muster.flags: %s %s"):format(name, what), hint) end
  local function plain(value, number)
    if value == nil or value == host.null then return "null" end
    return number or host.text(value) or (type(value) == "boolean" and host.tostring(value)) or host.json(value)
  end

  local function hydra(name, value, number)
    if type(value) == "string" then return hydra_text(value) end
    if type(value) ~= "table" then return plain(value, number) end
    local why = host.why_not_plain(value)
    if why then refuse(name, "cannot be written: " .. why) end
    local is_list = host.json(value):sub(1, 1) == "["
    local source = (host.raw_metatable(value) or {}).__muster_pairs or value
    local parts = {}
    for _, key in ipairs(host.sorted_keys(source)) do
      local text = hydra(name, source[key], host.number_text(source, key))
      if not is_list then
        local written, not_written = hydra_key(host.tostring(key))
        if not written then refuse(name, ("has the key %s: %s"):format(shown(key), not_written), "pass the map in a file: job:file") end
        text = written .. ":" .. text
      end
      parts[#parts + 1] = text
    end
    return (is_list and "[%s]" or "{%s}"):format(table.concat(parts, ","))
  end

  local function argparse(flag, name, value, number)
    if type(value) ~= "table" or host.json(value):sub(1, 1) ~= "[" then
      local text = plain(value, number)
      -- argparse takes a word that begins with '-' for an option, except some numbers.
      words[#words + 1] = text:sub(1, 1) == "-" and flag .. "=" .. text or flag
      if text:sub(1, 1) ~= "-" then words[#words + 1] = text end
      return
    end
    if lists == "words" then words[#words + 1] = flag end
    for i, element in ipairs(value) do
      local text = plain(element, host.number_text(value, i))
      if lists == "repeat" then
        argparse(flag, name, text)
      else
        if type(element) == "number" then text = argparse_element(text) end
        if text:sub(1, 1) == "-" and type(element) ~= "number" then
          refuse(("%s[%d]"):format(name, i), ("is %s: argparse takes a list's element that begins with '-' for an option"):format(shown(element)),
                 'lists = "repeat" writes ' .. flag .. "=ELEMENT for each, for an option with action=\"append\"")
        end
        words[#words + 1] = text
      end
    end
  end

  for _, name in ipairs(host.sorted_keys(flat)) do
    local value = flat[name]
    if (not only or is_in(only, name)) and not is_in(except, name) then
      if style == "hydra" then
        -- KEY, GROUP@PACKAGE, and the marks of additions and deletions.
        if not name:match("^%+?%+?[%w_$./@:-]+$") and not name:match("^~[%w_$./@:-]+$") then
          refuse(shown(name), "is not a name that Hydra's grammar can write")
        end
        words[#words + 1] = name .. "=" .. hydra(name, value, numbers[name])
      else
        local flag = "--" .. (options.dashes and name:gsub("_", "-") or name)
        if value == true then
          words[#words + 1] = flag
        elseif value ~= false then
          argparse(flag, name, value, numbers[name])
        end
      end
    end
  end
  return words
end

return { read = read, read_profile = read_profile, view = view, view_of = view_of, what_is = what_is }
