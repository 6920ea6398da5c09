-- Documents the options that a recipe, a site file or the command line gives for engines (engines/): a topic for each engine,
-- and lua/meta/engines.lua, the same options as classes for editors.
local page = ...

local function ticked(text) return "`" .. text .. "`" end

-- How a value is written, by the type of the option (engine/engine_page.h), and its type for editors.
local DURATION, REQUEUE = 'duration with a unit: `"90m"`, `"12h"`', 'table: `{ on = { "time_limit", "preempted", "node_fail", "failed" }, max = 3 }`'
local FORMS = { count = "whole number", duration = DURATION, notice = DURATION, flag = "true or false", each_trial = "true or false",
                list = "list of texts", table = "table", requeue = REQUEUE }
local STUB_TYPES = { count = "integer", flag = "boolean", each_trial = "boolean", list = "string[]", table = "table<string, any>",
                     requeue = 'string|{ on: ("time_limit"|"preempted"|"node_fail"|"failed")[], max?: integer }', text = "string|integer" }

-- Slurm and Kubernetes have options of the command line of their own (cli/options/engine_choice.cc).
local OPTIONS = { slurm = "slurm", kubernetes = "kubernetes" }

local function default_of(option)
  if option.default == nil then return "" end
  return "; default: " .. ticked(type(option.default) == "string" and '"' .. option.default .. '"' or tostring(option.default))
end

local function topic(engine)
  local name, facts, others, first = engine.name, {}, {}, nil
  for i, option in ipairs(engine.options) do
    facts[i] = { ticked(option.name), (FORMS[option.type] or "text") .. default_of(option), option.doc }
    if option.line and option.line:find "^%-" then facts[i][4] = "in the script: " .. ticked(option.line) end
    if option.type == "text" and option.name ~= "as" then first = first or option.name end
    others[i] = name .. "." .. option.name
  end
  local example = ("muster run RECIPE --on %s --%s %s=VALUE\n%s = { %s = \"VALUE\" }      in a recipe or a site file"):format(
    name, OPTIONS[name] or "engine-option", first, name, first)
  return { name = name, kind = "engines", summary = "options of " .. engine.doc, other_names = others, listed = true,
           page = { title = "Options of the engine " .. ticked(name), blocks = { engine.doc, { example = example }, { facts = facts } },
                    data = { name = name, kind = "engine", options = engine.options } } }
end

local function stub(engine)
  local class = engine.name == "gridengine" and "GridEngine" or engine.name:gsub("^%l", string.upper)
  local lines = { ("\n---Options of the engine %s: `muster docs %s`.\n---@class muster.%s\n"):format(engine.name, engine.name, class) }
  for _, option in ipairs(engine.options) do
    lines[#lines + 1] = ("---@field %s? %s %s\n"):format(option.name, STUB_TYPES[option.type] or "string", option.doc)
  end
  return table.concat(lines)
end

local topics, stubs = {}, { [[
---@meta _
-- The options of engines for editors (`muster docs editors`), in recipes and site files. Printed by `muster docs --stub
-- engines` from the engines' pages, and not edited by hand.
]] }
local names = {}
for _, field in ipairs(page "muster/recipe_fields.lua"()[1].fields) do
  if field.engine then names[#names + 1] = field.name end
end
table.sort(names)
for i, name in ipairs(names) do
  local engine = page("muster/engines/" .. name .. ".lua", {})()
  topics[i], stubs[i + 1] = topic(engine), stub(engine)
end
return { topics = topics, document = table.concat(stubs) }
