-- Documents the frameworks' contracts: a topic for each, "frameworks", which lists them, and docs/frameworks.md with all of
-- them. The data of the pages for programs are the contracts' records.
local page = ...

local records = page "muster/framework_records.lua" (page)

local function ticked(text) return "`" .. text .. "`" end

local function joined(texts)
  local words = {}
  for i, text in ipairs(texts) do words[i] = ticked(text) end
  return table.concat(words, ", ")
end

-- "1", "1 or more", "at most 1", "any": the allowed number of processes of a role.
local function count(role)
  if role.max == 0 then return role.min == 0 and "any" or role.min .. " or more" end
  return role.min == role.max and tostring(role.max) or "at most " .. role.max
end

local function roles_table(record)
  local rows = {}
  for i, role in ipairs(record.roles) do
    rows[i] = { ticked(role.name), count(role) .. (role.added and "; added by muster if left out" or ""), role.doc,
                role.serves and "serves; has " .. role.linger .. " s once the others have ended" or "the job waits for it" }
  end
  return { columns = { "role", "processes", "what it does", "its end" }, rows = rows }
end

local FORMS = { count = "a number", file = "a JSON file beside the recipe", list = "a list of texts" }

local function options_table(record)
  local rows = {}
  for i, option in ipairs(record.options) do
    local values = option.kind == "" and joined(option.words) .. "; the first unless given" or FORMS[option.kind] or "a " .. option.kind
    if option.default ~= "" then values = values .. "; " .. ticked(option.default) .. " unless given" end
    rows[i] = { ticked(option.name), values, option.doc }
  end
  return { columns = { "option", "values", "what it does" }, rows = rows }
end

local function names_table(names, columns)
  local rows = {}
  for i, name in ipairs(names) do
    rows[i] = #columns == 3 and { ticked(name.name), name.who, name.doc } or { ticked(name.name), name.doc }
  end
  return { columns = columns, rows = rows }
end

local function rendezvous_of(record)
  local meeting = record.meeting
  if not meeting then return "none" end
  return ("the first `%s`%s, at the port `%s`"):format(meeting.role, record.worlds and " of each world" or "", meeting.port)
end

local function page_of(record)
  local facts = { { "rendezvous endpoint", rendezvous_of(record) }, { "the job ends", record.ends } }
  local function fact(label, line)
    if line ~= "" then facts[#facts + 1] = { label, line } end
  end
  fact("MindSpore's context", record.derives)
  fact("removed", joined(record.clear or {}))
  fact("source", record.source)
  local blocks = { record.doc }
  local function add(block) blocks[#blocks + 1] = block end
  if record.example ~= "" then add { example = record.example, language = "lua" } end
  add { facts = facts }
  for _, note in ipairs(record.notes) do add(note) end
  add(roles_table(record))
  if #record.options > 0 then add(options_table(record)) end
  if #record.variables > 0 then add(names_table(record.variables, { "variable", "whose", "value" })) end
  if #record.absent > 0 then
    add "Names that recipes set but no framework reads; muster warns of them:"
    add(names_table(record.absent, { "variable", "why it has no effect" }))
  end
  local data = { kind = "framework" }
  for key, value in pairs(record) do data[key] = value end
  return { title = ticked(record.name), blocks = blocks, data = data }
end

local WHAT = "What a recipe names as `framework`: which variables its processes find, which inherited ones are removed, where they "
  .. "meet and how the job ends. An option is chosen beside the name: `framework = { \"jax\", imitate = \"slurm\" }`. A variable "
  .. "that is set here can be contradicted on purpose only (`override = true`); those that are merely suggested say so."

local function overview(form)
  local rows = {}
  for i, record in ipairs(records) do rows[i] = { (form:gsub("NAME", record.name)), record.doc } end
  return { columns = { "framework", "what it launches" }, rows = rows }
end

local topics = {}
local document = { { title = "Frameworks", blocks = {
  WHAT, "`muster docs NAME` prints the same. This page is made from `lua/muster/frameworks/` and is not edited by hand; how "
    .. "a recipe brings a contract of its own is in [environment.md](environment.md#contracts-of-your-own).",
  overview "[`NAME`](#NAME)" } } }
for i, record in ipairs(records) do
  document[i + 1] = page_of(record)
  topics[i] = { name = record.name, kind = "framework", summary = record.doc, listed = true, page = document[i + 1] }
end
topics[#topics + 1] = {
  name = "frameworks", kind = "list", summary = "launch contracts that a recipe can name", other_names = { "framework", "contract" },
  listed = true, page = { title = "Frameworks", blocks = { WHAT, overview "`NAME`" },
                          data = { name = "frameworks", kind = "list", frameworks = records } } }
return { topics = topics, document = document }
