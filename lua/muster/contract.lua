-- Contracts: what a framework requires in the environment of its processes, and when its jobs end. Each is a file of
-- frameworks/ (parts/names.lua lists them), or muster.contract { … } in a recipe. This file defines the form of contracts
-- and reads the options that a recipe chooses; layout.lua calls them. A contract is a table:
--
--   name, doc, notes, source, ends, derives, example
--            for `muster docs NAME`: notes is a list of paragraphs, ends says when a job ends, derives what follows for
--            MindSpore's context, example is a few lines of a recipe
--   roles    by role ("scheduler", "server", "worker", …): { min, max, done, linger, add, command,
--            ports, devices, doc }
--            done = "never": the role serves, and has the time `linger` ("35s") after all other roles have ended
--            add = "worker": if the recipe describes no such role, one is added that runs `command`, or the worker's
--            command, devices: defaults of the role; ports: names of ports that each of its processes gets
--   worlds   "many": workers may be in several worlds, each with its own ranks and rendezvous endpoint
--   meeting  { role, port, avoid }: role and named port of the rendezvous endpoint; avoid = { from, to, why }: its range
--   clear    inherited variables that no process may see: NAME or PREFIX*; or function(option) that returns them
--   variables  { { NAME, processes, meaning, is = … }, … }: each variable that is set, with its documentation: "all" or a
--            list of roles, and a text. A rehearsal compares it with the plan by what it is: "rank", "world_size",
--            "local_rank", "local_size"; "count": the number of processes `of` a role; "worker_hosts":
--            of hosts with workers; "role": the role's word, `words` by role unless it is its name; "address" and "port",
--            or both as "endpoint": the rendezvous endpoint; "tasks": TensorFlow's JSON. optional = true: an option may
--            omit it
--   absent   { NAME = why }: names that recipes set and no program reads; { NAME = { why, since = RELEASE } }: that no
--            MindSpore reads from that release on
--   options  { name = { first, …, doc = … } }: words that a recipe may choose from; the first one is the default:
--            framework = { "mindspore-ps", form = "minimal" }. With kind = "count" (least, most), "text", "list" (of
--            texts), "table" or "file" (JSON beside the recipe, given as { path, name, json }) it takes another value
--   ports    { name = role }: ports that attributes of the context may request with "auto"; the role's first process
--            listens there
--   names_devices  true: processes get their devices by the numbers of the host, so no devices are hidden from them
--   context  true: its roles get their settled context applied when their script imports the framework
--
-- and of functions, called in this order:
--   arrange(job)         before roles are placed: may set `on_hosts`, `done` and `ports` of roles that do not set them, and
--                        declare by job.ranks_of("worker", who) that the framework `who` assigns the ranks of that role
--   check(job)           reports what the framework cannot do
--   slots(option)        "error", "none" or nil for a warning, if workers without devices exceed the slots of named hosts
--   launcher(role, job)  words of a program that starts the role's processes itself: the plan then starts that one
--                        program, with the role's command after the words; and whether processes on other hosts
--                        get the variables of that program
--   prepare(job)         after placement: its result is job.prepared
--   defaults(role, job)  variables of a role, if it does not inherit them; the recipe may override them
--   common(role, job)    variables that all processes of a role share
--   env(process, job)    variables of one process. "" sets a variable to the empty text; a variable that is neither
--                        set nor cleared is inherited
-- All get job.option.NAME, job.cluster, job.roles, job.run_dir, job.run_id, job.attempt, job.setting(function, attribute),
-- job.setting_file (the JSON that the attribute names, if the recipe ships it), job.in_force (as setting, with the release's
-- defaults), job.release ("2.3.1", or nil), job.before(RELEASE) and job.inherited(NAME) (the variable of muster's
-- environment, which becomes an input of the plan). From prepare on there are also job.count,
-- job.meeting { address, port }, job.worlds[name] { size, host_order, node, most_local, meeting }, job.file(name, text), which
-- returns a path, and job.numbers, which sets numbers of the processes' ports. A contract of a recipe has no arrange
-- and no launcher, gets read-only views, and reports by job.report(message, hint).
local host, prelude, muster, fields = ...

local KEYS = {
  name = "string", doc = "string", notes = "table", source = "string", ends = "string", derives = "string", example = "string",
  roles = "table", worlds = "string", meeting = "table", clear = "table", variables = "table", absent = "table",
  options = "table", ports = "table", context = "boolean", names_devices = "boolean", arrange = "function", check = "function", launcher = "function", slots = "function",
  prepare = "function", defaults = "function", common = "function", env = "function",
}
local ROLE_KEYS = { min = "number", max = "number", done = "string", linger = "duration", add = "string", command = "table",
                    ports = "table", devices = "number", doc = "string" }
local OPTION_KINDS = { count = true, text = true, list = true, table = true, file = true }

local ENDINGS = { all = true, any = true, never = true }

local function shown(value) return host.show(value) end

local function is_list_of_texts(value)
  if type(value) ~= "table" then return false end
  for _, key in ipairs(host.sorted_keys(value)) do
    if type(key) ~= "number" or type(value[key]) ~= "string" then return false end
  end
  return true
end

-- Calls complain(message, hint) for each error in the form of `contract`.
local function check_form(contract, complain)
  local function check(table, known, what)
    for _, key in ipairs(host.sorted_keys(table)) do
      local kind, value = known[key], table[key]
      if not kind then
        complain(("%s has no field %s"):format(what, shown(key)), host.suggest(host.tostring(key), host.keys(known)))
      elseif kind == "duration" then
        if not host.duration_ms(value) then
          complain(("%s: %s must be a duration such as \"35s\", got %s"):format(what, key, shown(value)), host.duration_hint(value))
        end
      elseif type(value) ~= kind and not (key == "clear" and type(value) == "function") then
        complain(("%s: %s must be a %s, got %s"):format(what, key, kind, shown(value)))
      end
    end
  end
  check(contract, KEYS, "a contract")
  if type(contract.name) ~= "string" or not contract.name:match("^[%w][%w_-]*$") then
    complain("a contract's name must consist of letters, digits, '_' and '-', got " .. shown(contract.name))
  end
  for _, plays in ipairs(type(contract.roles) == "table" and host.sorted_keys(contract.roles) or {}) do
    if type(contract.roles[plays]) ~= "table" then
      complain(("role %s of a contract must be a table, got %s"):format(shown(plays), shown(contract.roles[plays])))
    else
      check(contract.roles[plays], ROLE_KEYS, ("role %s of a contract"):format(host.tostring(plays)))
    end
  end
  if contract.roles == nil then complain("a contract needs roles", "roles = { worker = { min = 1 } }") end
end

-- A copy of the variable of a recipe's contract, or nil; host.contract checks what it carries.
local function checked_variable(given, number, roles, complain)
  local copy = {}
  for _, key in ipairs(host.sorted_keys(given)) do copy[key] = given[key] end
  if type(copy[1]) ~= "string" or not copy[1]:match "^[%a_][%w_]*$" or type(copy[2]) ~= "string" then
    complain(("variable %d of a contract must be { NAME, processes, meaning, is = … }, got %s"):format(number, shown(given)),
             '{ "ACTORS_NUMBER", "actor", "number of the actor", is = "rank" }')
    return nil
  end
  local function check_role(role)
    if not roles[role] then complain(("variable %s of a contract names the role %s, which the contract does not have"):format(copy[1], shown(role))) end
  end
  if copy[2] ~= "all" then
    for role in copy[2]:gmatch "[^, ]+" do check_role(role) end
  end
  if copy.of ~= nil then check_role(copy.of) end
  return copy
end

-- Further checks of a recipe's contract with a valid form; muster's own contracts do not need them. Returns a copy, so
-- later changes by the recipe have no effect.
local function checked_copy(given, place, complain)
  local contract = { place = place, roles = {}, clear = {}, options = {}, absent = {}, variables = {} }
  for _, key in ipairs(host.sorted_keys(given)) do contract[key] = contract[key] or given[key] end
  for _, plays in ipairs(host.sorted_keys(given.roles)) do
    local role, what = {}, ("role %s of a contract"):format(host.tostring(plays))
    for _, key in ipairs(host.sorted_keys(given.roles[plays])) do
      local value = given.roles[plays][key]
      if type(value) == "number" and not (value >= 0 and value <= 1000000 and value % 1 == 0) then
        complain(("%s: %s must be a whole number, got %s"):format(what, key, shown(value)))
      end
      role[key] = value
    end
    if type(plays) ~= "string" then complain("the roles of a contract must have names, got the key " .. shown(plays)) end
    if role.done and not ENDINGS[role.done] then complain(('%s: done must be "all", "any" or "never", got %s'):format(what, shown(role.done))) end
    if role.command then role.command = (fields.read_command(role.command, place, what) or { words = {} }).words end
    if role.ports then role.ports = fields.read_ports(role.ports, place, what) end
    contract.roles[plays] = role
  end
  if given.meeting then
    local role, port = given.meeting.role, given.meeting.port
    if not contract.roles[role] or type(port) ~= "string" or not port:match("^[%w_-]+$") then
      complain(("meeting must name one of the contract's roles and a port, got %s and %s"):format(shown(role), shown(port)),
               'meeting = { role = "server", port = "rpc" }')
    end
    contract.meeting = { role = role, port = port }
  end
  for i, variable in ipairs(given.variables or {}) do
    if type(variable) == "table" and variable.is ~= nil then  -- the others are documentation
      contract.variables[#contract.variables + 1] = checked_variable(variable, i, contract.roles, complain)
    end
  end
  if not is_list_of_texts(given.clear or {}) then complain("clear must be a list of variables, got " .. shown(given.clear)) end
  contract.clear = { unpack(is_list_of_texts(given.clear or {}) and given.clear or {}) }
  for _, name in ipairs(host.sorted_keys(given.options or {})) do
    local words = given.options[name]
    if not is_list_of_texts(words) or words[1] == nil then complain(("option %s must be a list of words, got %s"):format(shown(name), shown(words))) end
    contract.options[name] = { unpack(type(words) == "table" and words or {}) }
  end
  for _, name in ipairs(host.sorted_keys(given.absent or {})) do
    if type(given.absent[name]) ~= "string" then complain(("absent: %s must be a text with the reason, got %s"):format(shown(name), shown(given.absent[name]))) end
    contract.absent[name] = host.tostring(given.absent[name])
  end
  return contract
end

local contracts = {}

-- Pages of contracts share the files in frameworks/parts/.
local function page(name, environment)
  local text = host.own_page("frameworks/" .. name)
  return text and host.load(text, "=muster/frameworks/" .. name, environment)
end

local function own_environment()
  local environment = { host = host, ipairs = ipairs, pairs = pairs, type = type, tostring = host.tostring,
                        tonumber = tonumber, unpack = unpack, math = math, string = string, table = table }
  function environment.contract(given) return given end
  function environment.part(name) return page("parts/" .. name, environment)() end
  return environment
end

function contracts.names() return page("parts/names", {})() end

local own = {}  -- muster's own contracts that are loaded, by name

local function load_own(name, place)
  if own[name] then return own[name] end
  local names = contracts.names()
  local known = false
  for _, candidate in ipairs(names) do known = known or candidate == name end
  if not known then
    host.stop("framework", place, ("there is no framework %q"):format(name), host.suggest(name, names))
  end
  local contract = page(name, own_environment())()
  check_form(contract, function(message) error("contract " .. name .. ": " .. message, 0) end)
  own[name] = contract
  return contract
end

-- muster.contract { … }: checked where it is called; contracts.asked checks the results of its functions.
function muster.api.contract(given)
  local place = host.here()
  if type(given) ~= "table" then host.stop("type", place, "muster.contract expects a table, got " .. shown(given)) end
  local sound = true
  local function complain(message, hint)
    sound = false
    host.report("error", "contract", place, message, hint)
  end
  for _, key in ipairs { "arrange", "launcher" } do
    if given[key] ~= nil then complain(("a contract of a recipe has no %s"):format(key)) end
  end
  check_form(given, complain)
  for _, name in ipairs(contracts.names()) do
    if name == given.name then complain(("muster has a framework %s of its own"):format(name), "give the contract another name") end
  end
  if type(given.clear) == "function" then
    complain("clear of a recipe's contract must be a list of variables, got a function")
  end
  if not sound then host.stop_if_errors() end
  local contract = checked_copy(given, place, complain)
  if not sound then host.stop_if_errors() end
  return muster.seal("a contract", contract)
end

-- The contract that the recipe names or defines.
function contracts.load(recipe)
  return recipe.contract or load_own(recipe.framework or "none", recipe.place)
end

-- The recipe's value for an option that is not a word, or nil after a report.
local function read_option(contract, name, option, value, place)
  local function refuse(wanted)
    host.report("error", "type", place, ("framework %s: %s must be %s, got %s"):format(contract.name, name, wanted, shown(value)))
  end
  if option.kind == "count" then
    local least, most = option.least or 0, option.most or 1000000
    if type(value) == "number" and value % 1 == 0 and value >= least and value <= most then return value end
    return refuse(("a whole number from %d to %d"):format(least, most))
  elseif option.kind == "text" or option.kind == "file" then
    if type(value) ~= "string" or value == "" then return refuse("a text") end
    if option.kind == "text" then return value end
    local path = host.ship(place, value)
    host.stop_if_errors()
    local json, why = host.shipped_json(path)
    if json == nil then host.stop("bad_json", place, ("framework %s: %s is not valid JSON: %s"):format(contract.name, value, why)) end
    return { path = path, name = value, json = json }
  end
  if type(value) ~= "table" then return refuse(option.kind == "list" and "a list of texts" or "a table") end
  if option.kind == "table" then return value end
  local texts = {}
  for _, key in ipairs(host.sorted_keys(value)) do
    local text = key == #texts + 1 and host.text(value[key])
    if not text then return refuse("a list of texts") end
    texts[key] = text
  end
  return texts
end

-- The values of the contract's options. One that the recipe gives may be a function of the parameters.
function contracts.settle_options(contract, given, place, p)
  local known, chosen = contract.options or {}, {}
  for name, option in pairs(known) do
    if option.kind then chosen[name] = option.default else chosen[name] = option[1] end
  end
  for _, name in ipairs(host.sorted_keys(given)) do
    local option, value = known[name], given[name]
    if type(value) == "function" then value = value(p) end
    local fits = false
    for _, word in ipairs(option or {}) do fits = fits or word == value end
    if option and option.kind then
      assert(OPTION_KINDS[option.kind], "an option of unknown kind")
      chosen[name] = read_option(contract, name, option, value, place)
    elseif fits then
      chosen[name] = value
    elseif option then
      local words = { unpack(option) }
      host.report("error", "enum", place, ("framework %s: %s must be one of %s, got %s"):format(contract.name, name, shown(words), shown(value)),
                  host.nearest(host.tostring(value), words))
    else
      host.report("error", "unknown_key", place, ("framework %s has no option %s"):format(contract.name, shown(name)),
                  host.suggest(host.tostring(name), host.keys(known)))
    end
  end
  return chosen
end

-- Adds what the variables of a recipe's contract carry to the plan; that of muster's own is on their pages.
function contracts.declare(contract)
  local records = contract.place and page("parts/meanings", own_environment())()(contract) or {}
  local why = #records > 0 and host.contract(records)
  if why then host.report("error", "contract", contract.place, ("contract %s: %s"):format(contract.name, why)) end
end

-- Reports variables of a table that no program reads.
function contracts.warn_of_absent(contract, variables, what)
  if not contract.absent then return end
  for _, name in ipairs(host.sorted_keys(contract.absent)) do
    local variable = variables[name]
    local absent = contract.absent[name]
    local why, since = absent, nil
    if type(absent) == "table" then why, since = absent[1], absent.since end
    if variable and not variable.unset and not (since and host.release_before(since)) then
      host.report("warning", "no_such_variable", variable.place, ("%s: %s has no effect: %s"):format(what, name, why),
                  "leave it out")
    end
  end
end

-- A read-only copy, including the tables in it; lists are plain copies. `prepared` is the contract's own and is not
-- copied.
local function view(table, what, prepared)
  local copy = { prepared = prepared }
  for key, value in pairs(table) do
    local guarded = type(value) == "table" and host.raw_metatable(value)
    local plain = type(value) == "table" and not guarded and (value[1] ~= nil or next(value) == nil)
    copy[key] = plain and { unpack(value) } or type(value) == "table" and not guarded and view(value, what .. "." .. host.tostring(key)) or value
  end
  return setmetatable({}, {
    __index = copy,
    __newindex = function(_, key) host.stop("read_only", host.here(), ("%s cannot be set in %s"):format(host.tostring(key), what)) end,
    __metatable = false,
    __muster_pairs = copy,
  })
end

local PROCESS_FACTS = { "name", "role", "index", "number", "rank", "world", "world_size", "local_rank", "local_size", "host",
                        "devices", "device_index", "ports", "attempt", "stage", "rank_in_stage" }
local JOB_FACTS = { "option", "cluster", "run_dir", "run_id", "attempt", "setting", "setting_file", "in_force", "release", "before", "inherited", "count", "meeting", "worlds",
                    "file" }

-- A view of a world of the job.
local function world_view(world, what)
  return view({ size = world.size, host_order = world.host_order, node = world.node, most_local = world.most_local, meeting = world.meeting }, what)
end

-- The view of the job that a recipe's contract gets.
local function job_view(job)
  local facts = { roles = {} }
  for _, key in ipairs(JOB_FACTS) do facts[key] = job[key] end
  for i, role in ipairs(job.roles) do
    facts.roles[i] = view({ name = role.name, plays = role.plays, world = role.world, count = role.placed and #role.placed or role.count }, "role")
  end
  facts.worlds = {}
  for name, world in pairs(job.worlds or {}) do
    facts.worlds[name] = world_view(world, "job.worlds." .. name)
  end
  function facts.report(message, hint) host.report("error", "contract", job.place, host.tostring(message), hint and host.tostring(hint)) end
  return view(facts, "job", job.prepared)
end

-- The variables that a recipe's contract returned, as { NAME = text }.
local function checked(contract, given)
  if given == nil then return nil end
  local what = "contract " .. contract.name
  local texts = {}
  for name, variable in pairs(fields.read_variables(given, contract.place, what, {})) do
    if variable.unset then
      host.report("error", "variable", contract.place, ("%s: %s is unset"):format(what, name), "the contract's list clear removes variables")
    else
      host.check_text(variable.text, what .. ": " .. name, contract.place)
      texts[name] = variable.text
    end
  end
  return texts
end

-- Refuses a default that the contract itself clears: it would never reach a process.
local function refuse_cleared(contract, variables)
  for _, name in ipairs(host.sorted_keys(variables or {})) do
    for _, pattern in ipairs(contract.clear) do
      local prefix = pattern:match("^(.*)%*$")
      if name == pattern or (prefix and name:sub(1, #prefix) == prefix) then
        host.report("error", "contract", contract.place, ("contract %s: its default %s is also cleared, as %s"):format(contract.name, name, pattern),
                    "let common or env set it, or clear less")
      end
    end
  end
end

-- The contract's functions as layout.lua calls them; missing ones return nothing. `job` is read at the time of the
-- call.
function contracts.asked(contract, job)
  local asked = {}
  for _, name in ipairs { "arrange", "check", "launcher", "prepare", "defaults", "common", "env" } do
    local answer = contract[name]
    if not answer then
      asked[name] = function() end
    elseif not contract.place then
      asked[name] = answer
    elseif name == "check" or name == "prepare" then
      asked[name] = function() return answer(job_view(job)) end
    else
      local seen  -- the job does not change after the first of these calls
      asked[name] = function(subject)
        seen = seen or job_view(job)
        local facts = {}
        if name == "env" then
          for _, key in ipairs(PROCESS_FACTS) do facts[key] = subject[key] end
        else
          facts = { name = subject.name, plays = subject.plays, world = subject.world, count = #subject.placed }
        end
        local variables = checked(contract, answer(view(facts, name == "env" and "process" or "role"), seen))
        if name == "defaults" then refuse_cleared(contract, variables) end
        return variables
      end
    end
  end
  return asked
end

return contracts
