-- The contracts as data: what their pages say without their functions, for `muster docs` and for rehearsals. page(path,
-- environment) loads one of muster's own files as a function.
local page = ...

local environment = { host = {}, ipairs = ipairs, pairs = pairs, type = type, tostring = tostring, tonumber = tonumber,
                      unpack = unpack, math = math, string = string, table = table }
function environment.contract(given) return given end
function environment.part(name) return page("muster/frameworks/parts/" .. name .. ".lua", environment)() end

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map or {}) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function first_words(options)
  local chosen = {}
  for name, option in pairs(options or {}) do chosen[name] = option[1] end
  return chosen
end

local meanings = environment.part "meanings"
local records = {}
for i, name in ipairs(environment.part "names") do
  local contract = page("muster/frameworks/" .. name .. ".lua", environment)()
  local clear = contract.clear
  if type(clear) == "function" then clear = clear(first_words(contract.options)) end
  local record = { name = contract.name, doc = contract.doc, notes = contract.notes or {}, source = contract.source or "",
                   ends = contract.ends or "", derives = contract.derives or "", example = contract.example or "",
                   worlds = contract.worlds == "many", clear = clear, roles = {}, options = {}, variables = {}, absent = {},
                   meanings = meanings(contract) }
  if contract.meeting then record.meeting = { role = contract.meeting.role, port = contract.meeting.port } end
  for _, plays in ipairs(sorted_keys(contract.roles)) do
    local role = contract.roles[plays]
    record.roles[#record.roles + 1] = { name = plays, doc = role.doc or "", min = role.min or 0, max = role.max or 0,
                                        added = role.add ~= nil, serves = role.done == "never", linger = tonumber((role.linger or "0s"):match "^(%d+)s$") }
  end
  for _, option in ipairs(sorted_keys(contract.options)) do
    local given = contract.options[option]
    record.options[#record.options + 1] = { name = option, doc = given.doc or "", words = { unpack(given) }, kind = given.kind or "",
                                            default = given.default or "" }
  end
  for at, variable in ipairs(contract.variables) do
    record.variables[at] = { name = variable[1], who = variable[2], doc = variable[3] }
  end
  for _, absent in ipairs(sorted_keys(contract.absent)) do
    local why = contract.absent[absent]
    record.absent[#record.absent + 1] = { name = absent, doc = type(why) == "table" and why[1] or why }
  end
  records[i] = record
end
return records
