-- Documents the module "muster" and the files beside recipes, from the definitions for editors that are written by hand
-- (lua/meta, annotations of LuaLS): a topic for each function and value of the module, and for the fields of sweep files,
-- site files and contracts, by table.
local _, text, none, more = ...

local function ticked(word) return "`" .. word .. "`" end

-- The type with which the words begin, and the rest. A blank ends it outside of brackets and texts, but not beside "|" and
-- behind ":" and ",", as in "fun(p: table): boolean, string?".
local function split_type(words)
  local depth, quoted = 0, false
  for i = 1, #words do
    local c = words:sub(i, i)
    if c == '"' then
      quoted = not quoted
    elseif not quoted then
      depth = depth + (c:find "[%(%[{<]" and 1 or c:find "[%)%]}>]" and -1 or 0)
      if c == " " and depth <= 0 and not words:find("^[|:,]", i - 1) and words:sub(i + 1, i + 1) ~= "|" then
        return words:sub(1, i - 1), words:sub(i + 1)
      end
    end
  end
  return words, ""
end

-- "name? type description"
local function field_in(words)
  local name, rest = words:match "^([^ ]*) ?(.*)$"
  local kind, doc = split_type(rest)
  return { name = name:gsub("%?$", ""), optional = name:find "%?$" ~= nil, type = kind, doc = doc }
end

-- Functions have name, doc, parameters (fields), returned (a type) and is_value; classes have name, doc, fields and bases.
local functions, classes, methods, aliases = {}, {}, {}, {}

local function read(file)
  local doc, class, parameters, returned = {}, nil, {}, ""
  local function taken()
    local whole = table.concat(doc, " ")
    doc = {}
    return whole
  end
  local tags = {
    class = function(words)
      class = { name = words:match "^[^ ]*", doc = taken(), fields = {}, bases = words:match "^[^ ]* : (.*)$" or "" }
      classes[#classes + 1] = class
    end,
    alias = function(words)
      local name, kind = words:match "^([^ ]*) (.*)$"
      aliases[#aliases + 1] = { name = name, type = kind }
    end,
    field = function(words)
      if not class then return end
      local field, above = field_in(words), taken()
      if field.doc == "" then field.doc = above end
      class.fields[#class.fields + 1] = field
    end,
    param = function(words) parameters[#parameters + 1] = field_in(words) end,
    ["return"] = function(words) returned = split_type(words) end,
  }
  for line in file:gmatch "([^\n]*)\n" do
    local words = line:match "^%-%-%-(.*)$"
    if words and words:sub(1, 1) ~= "-" then
      local tag, rest = words:match "^@(%a+) (.*)$"
      if tags[tag] then
        tags[tag](rest)
      elseif words:sub(1, 1) ~= "@" then
        doc[#doc + 1] = words
      end
    else
      local name = line:match "^function (muster%.[^(]*)%("
      local value = line:match "^(muster%.[^ ]*) "
      local class_of, method = line:match "^function (%u%a*):([^(]*)%("
      if method then
        methods[#methods + 1] = { class = "muster." .. class_of, name = method, doc = taken(), parameters = parameters, returned = returned }
      end
      if name or value then
        functions[#functions + 1] = { name = name or value, is_value = not name, doc = taken(), parameters = parameters, returned = returned }
      end
      doc, class, parameters, returned = {}, nil, {}, ""
    end
  end
end

for _, file in ipairs { "muster", "sweep" } do read(text("meta/" .. file .. ".lua")) end

local class_named, with_fields = {}, {}
for _, class in ipairs(classes) do
  if #class.fields > 0 then
    with_fields[#with_fields + 1] = class
    class_named[class.name] = class_named[class.name] or class
  end
end

-- Files and tables whose fields are classes of the definitions; the first is the table itself.
local TABLES = {
  { name = "sweep", kind = "sweep files", title = "Sweep file", summary = "fields of a sweep file",
    classes = { "muster.Sweep", "muster.SweepMetrics", "muster.SweepRetry", "muster.SweepBudget" }, example = [[
local muster = require "muster"
return muster.sweep {
  recipe    = muster.load "train.lua",
  space     = { lr = muster.log_uniform(1e-4, 1e-1), batch = { 32, 64 } },
  sampler   = muster.random { seed = 1, trials = 20 },
  objective = muster.minimize "loss",
}
]] },
  { name = "site", kind = "site files", title = "Site file", summary = "fields of a site file",
    classes = { "muster.Site", "muster.SiteEnvironment" }, example = [[
-- muster.site.lua
local muster = require "muster"
return muster.site {
  hosts       = "n[01-16]:8",
  environment = { set = { NCCL_SOCKET_IFNAME = "ib0" } },
}
]] },
  { name = "contract", kind = "contracts", title = "Contract of a recipe's own",
    summary = "fields of a launch contract of a recipe's own", classes = { "muster.Contract", "muster.ContractRole" }, example = [[
framework = muster.contract {
  name  = "ring",
  roles = { worker = { min = 2 } },
  env   = function(process, job) return { RING_RANK = process.rank } end,
}
]] },
}

-- What a function returns that a field of a sweep file takes, and the axes of its space.
local RESULTS = {
  { "muster.Axis", "axes", "Axes of a space", "values of one parameter in a sweep" },
  { "muster.Space", "space", "Spaces", "which points a sweep has" },
  { "muster.Sampler", "sampler", "Samplers", "which points of a space are tried, and in which order" },
  { "muster.Objective", "objective", "Objectives", "what the trials of a sweep are ranked by" },
  { "muster.EarlyStop", "early_stop", "Early stopping", "which trials of a sweep are stopped early" },
}

-- Where the fields of a class are listed, if not on the page of its function.
local topic_of_class = { ["muster.Recipe"] = "recipe", ["muster.ParameterDeclaration"] = "parameters" }
for _, table in ipairs(TABLES) do topic_of_class[table.classes[1]] = table.name end

local function signature(f)
  if f.is_value then return f.name end
  if #f.parameters == 1 and f.parameters[1].type:find("muster.", 1, true) then return f.name .. " { … }" end
  local words = {}
  for i, each in ipairs(f.parameters) do words[i] = each.optional and "[" .. each.name .. "]" or each.name end
  return f.name .. "(" .. table.concat(words, ", ") .. ")"
end

local function field_list(fields)
  local facts = {}
  for i, field in ipairs(fields) do
    facts[i] = { ticked(field.name == "[1]" and "1" or field.name), field.type:gsub("|", " or ") .. (field.optional and "" or "; required") }
    if field.doc ~= "" then facts[i][3] = field.doc end
  end
  return { facts = facts }
end

local function function_topic(f)
  local blocks, parts = { f.doc }, { unpack(f.parameters) }
  local function add(block) blocks[#blocks + 1] = block end
  if f.returned ~= "" and f.returned ~= "any" then
    parts[#parts + 1] = { name = "returns", optional = true, type = f.returned, doc = "" }
  end
  if #parts > 0 then add(field_list(parts)) end
  for _, parameter in ipairs(f.parameters) do
    for _, class in ipairs(with_fields) do
      local _, stop = parameter.type:find(class.name, 1, true)
      if stop and not parameter.type:find("^%w", stop + 1) then
        local label, topic = "Fields of " .. ticked(parameter.name), topic_of_class[class.name]
        add(topic and label .. ": " .. ticked("muster docs " .. topic) or { heading = label })
        if not topic then add(field_list(class.fields)) end
      end
    end
  end
  return { name = f.name, kind = "functions", summary = f.doc:gsub("[.:] .*$", ""):gsub("%.+$", ""),
           other_names = { f.name:sub(#"muster." + 1) },
           listed = f.returned ~= "muster.Parameter",  -- `muster docs parameters` lists those
           page = { title = ticked(signature(f)), blocks = blocks,
                    data = { name = f.name, kind = "function", doc = f.doc, returns = f.returned,
                             parameters = #f.parameters > 0 and f.parameters or none } } }
end

-- Fields whose type is made by functions list these: "muster.Sampler" -> "`muster.grid { … }`, …"
local function with_functions(fields)
  local filled = {}
  for i, field in ipairs(fields) do
    local made = {}
    for _, f in ipairs(field.type:find "^muster%." and functions or {}) do
      if f.returned == field.type then made[#made + 1] = ticked(signature(f)) end
    end
    filled[i] = #made == 0 and field or { name = field.name, optional = field.optional, doc = field.doc, type = table.concat(made, ", ") }
  end
  return filled
end

local function table_topic(of)
  local blocks, sections, names = {}, {}, {}
  local main = class_named[of.classes[1]]
  for _, name in ipairs(of.classes) do
    local class, prefix = class_named[name], of.name
    if class ~= main then
      for _, field in ipairs(main.fields) do  -- whose value is of that class
        if field.type:find(name, 1, true) then prefix = field.name break end
      end
      blocks[#blocks + 1] = { heading = ticked(prefix) }
    end
    if class.doc ~= "" then blocks[#blocks + 1] = class.doc end
    if class == main then blocks[#blocks + 1] = { example = of.example, language = "lua" } end
    blocks[#blocks + 1] = field_list(with_functions(class.fields))
    sections[#sections + 1] = { name = name, fields = class.fields }
    for _, field in ipairs(class.fields) do
      names[#names + 1] = field.name
      names[#names + 1] = prefix .. "." .. field.name
    end
  end
  return { name = of.name, kind = of.kind, summary = of.summary, other_names = names, listed = true,
           page = { title = of.title, blocks = blocks, data = { name = of.name, kind = of.kind, sections = sections } } }
end

local function result_topic(kind, name, title, summary)
  local blocks, facts, made = {}, {}, {}
  for _, f in ipairs(functions) do
    if f.returned == kind then
      facts[#facts + 1] = { ticked(signature(f)), f.doc }
      made[#made + 1] = { name = f.name, doc = f.doc }
    end
  end
  for _, class in ipairs(classes) do
    if class.name == kind and class.doc ~= "" then blocks[#blocks + 1] = class.doc end
  end
  blocks[#blocks + 1] = { facts = facts }
  return { name = name, kind = "sweep files", summary = summary, listed = true,
           page = { title = title, blocks = blocks, data = { name = name, kind = "sweep files", functions = made } } }
end

local topics = {}
for _, each in ipairs(TABLES) do topics[#topics + 1] = table_topic(each) end
for _, each in ipairs(RESULTS) do topics[#topics + 1] = result_topic(unpack(each)) end
for _, each in ipairs(functions) do topics[#topics + 1] = function_topic(each) end
for _, file in ipairs(more or {}) do read(text("meta/" .. file .. ".lua")) end  -- for the language server, without topics
return { topics = topics, functions = functions, classes = class_named, all_classes = classes, methods = methods, aliases = aliases }
