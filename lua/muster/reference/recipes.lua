-- Documents the fields of recipes: a topic for each section of recipe_fields.lua that is not part of another one's page, and
-- docs/recipe-reference.md. Field names are aliases of their section: "cores", "role.cores", "job:workers", "muster.int".
local page = ...

local sections = page "muster/recipe_fields.lua"()

local function ticked(text) return "`" .. text .. "`" end

-- "[1]" for the first element of a table.
local function name_of(field) return type(field.name) == "number" and "[1]" or field.name end

-- `"pack"`, `"deal"`; otherwise the type and its limits.
local function values_of(field)
  local parts = { field.type }
  for _, word in ipairs(field.words or {}) do parts[#parts + 1] = ticked('"' .. word .. '"') end
  parts[#parts + 1] = field.range
  return table.concat(parts, ", ")
end

-- A value in recipe syntax is quoted; a phrase is not.
local function default_of(field)
  if field.required then return "required" end
  local text = field.default or ""
  return (text:find '^"' or text == "true" or text == "false") and ticked(text) or text
end

local function doc_of(field)
  return field.doc .. (field.only and " Only in " .. ticked(field.only) .. "." or "") .. (field.describes and " Not inside `each`." or "")
end

-- The examples of parameter types are in their hints.
local function example_of(field)
  return ticked(field.declaration and "muster." .. name_of(field) .. " " .. field.declaration or field.example)
end

-- One block of lines per field: a table of five columns is too wide for terminals.
local function field_list(section)
  local facts = {}
  for i, field in ipairs(section.fields) do
    local default = default_of(field)
    if default ~= "" then default = default == "required" and "; required" or "; default: " .. default end
    facts[i] = { ticked(name_of(field)), values_of(field) .. default, doc_of(field), example_of(field) }
  end
  return { facts = facts }
end

local function field_table(section)
  local rows = {}
  for i, field in ipairs(section.fields) do
    rows[i] = { ticked(name_of(field)), values_of(field), default_of(field), doc_of(field), example_of(field) }
  end
  return { columns = { section.what or "field", "values", "default", "description", "example" }, rows = rows }
end

local function example(section) return { example = section.example, language = "lua" } end

-- The first sentence, without its full stop.
local function summary(section) return section.doc:match "^(.-)%. " or section.doc:sub(1, -2) end

-- Heading anchors as GitHub generates them.
local function anchor(title) return (title:lower():gsub("[^%w ]", ""):gsub(" ", "-")) end

local is_section = {}
for _, section in ipairs(sections) do is_section[section.name] = true end

-- The topic of the section, with the sections that are shown on its page.
local function topic(main)
  local blocks, records, names, known = {}, {}, {}, { [main.name] = true }
  local function add(name)
    if not known[name] then names[#names + 1], known[name] = name, true end
  end
  for _, section in ipairs(sections) do
    if section == main or section.page == main.name then
      if #records > 0 then blocks[#blocks + 1] = { heading = section.title } end
      for _, block in ipairs { section.doc, example(section), field_list(section) } do blocks[#blocks + 1] = block end
      records[#records + 1] = section
      add(section.name)
      for _, other in ipairs(section.other_names or {}) do add(other) end
      for _, field in ipairs(section.fields) do
        local name = field.name
        if type(name) == "string" then
          add(name)
          if not is_section[section.name .. "." .. name] then add(section.name .. "." .. name) end
          if field.type == "method" then add(section.name .. ":" .. name) end
          if section.name == "parameters" then add("muster." .. name) end
        end
      end
    end
  end
  return { name = main.name, kind = "recipes", summary = summary(main), other_names = names, listed = true,
           page = { title = main.title, blocks = blocks, data = { name = main.name, kind = "recipes", sections = records } } }
end

local topics, overview = {}, { columns = { "section", "about" }, rows = {} }
local document = { { title = "Recipe reference", blocks = {
  "All fields of recipes, roles and their tables, the members of `job` and `process`, and the types of parameters. "
    .. "[recipe-guide.md](recipe-guide.md) introduces them by example, [recipes.md](recipes.md) describes composition, "
    .. "[attributes.md](attributes.md) the attributes of the context.",
  "`muster docs NAME` prints the same. This page is generated from `lua/muster/recipe_fields.lua`, which the checks of recipes "
    .. "read, too; do not edit it by hand.",
  overview } } }
for i, section in ipairs(sections) do
  if not section.page then topics[#topics + 1] = topic(section) end
  overview.rows[i] = { ("[%s](#%s)"):format(section.title, anchor(section.title)), summary(section) }
  document[i + 1] = { title = section.title, blocks = { section.doc, example(section), field_table(section) } }
end
return { topics = topics, document = document }
