-- From a described job to its processes: fills in what the contract adds, has the roles placed, calls `each`
-- for every process, asks the contract for its variables and hands everything to the engine.
local host, prelude, muster, policies, jobs, contracts = ...

local function shown(value) return host.show(value) end

-- How a role's Python gets its context: "apply" (by itself), "offer" (if the script asks) or nil; and whether that
-- holds for commands, too, that do not look like Python.
local function python_use(role, contract, recipe)
  local asked = role.apply_context
  if asked and not recipe.mindspore and not role.added then
    host.report("error", "missing", role.place, ("apply_context of role %s: the recipe names no release of MindSpore, so there is no context"):format(role.name),
                'mindspore = "1.6"')
  end
  if asked == nil and contract.context and role.plays ~= "other" then
    return recipe.apply_context == false and "offer" or "apply", false
  end
  if asked == nil then return nil, false end
  return asked and "apply" or "offer", asked
end

-- Roles that the contract adds or refuses, and how many processes of each it wants.
local function settle_roles(job, contract, recipe)
  local place = recipe.place
  for _, plays in ipairs(host.sorted_keys(contract.roles)) do
    local rule = contract.roles[plays]
    local model = rule.add and job.by_name[rule.add]
    if model and job.by_name[plays] and job.by_name[plays].plays ~= plays then model = nil end
    local described = false
    for _, role in ipairs(job.roles) do described = described or role.plays == plays end
    if not described and model then
      local added = { name = plays, plays = plays, world = "", place = model.place, command = model.command, cwd = model.cwd,
                      count = 1, env = model.env, env_of = model.name, ports = {}, added = true,
                      apply_context = model.apply_context }
      job.by_name[plays] = added
      table.insert(job.roles, 1, added)
    elseif not described and (rule.min or 0) > 0 then
      host.report("error", "roles", place, ("framework %s needs a %s, and the recipe describes none"):format(contract.name, plays),
                  plays == "scheduler" and "job:scheduler { command = … }" or ("job:%ss { count = …, command = … }"):format(plays))
    end
  end
  for _, role in ipairs(job.roles) do
    local rule = contract.roles[role.plays]
    if not rule and role.plays ~= "other" then
      host.report("error", "roles", role.place, ("framework %s has no %s"):format(contract.name, role.plays))
    end
    rule = rule or {}
    if not role.count and not role.per_host then
      if role.plays == "worker" then
        role.count, role.count_is_default = job.cluster.devices, true
      else
        role.count = 1
      end
    end
    local count = role.count or role.per_host * #(role.hosts or {}) or 0
    if role.per_host and not role.hosts then count = role.per_host * job.cluster.hosts end
    if rule.min and count < rule.min then
      host.report("error", "roles", role.place, ("framework %s needs at least %d %s, role %s has %d"):format(contract.name, rule.min, role.plays, role.name, count))
    elseif rule.max and count > rule.max then
      host.report("error", "roles", role.place, ("framework %s takes at most %d %s, role %s has %d"):format(contract.name, rule.max, role.plays, role.name, count))
    end
    role.done = role.done or rule.done or "all"
    role.linger_ms = (rule.linger or 0) * 1000
    role.python, role.python_surely = python_use(role, contract, recipe)
    if role.devices == nil then
      local target = host.setting("set_context", "device_target")
      role.devices = role.plays == "worker" and (target == "Ascend" or target == "GPU") and 1 or 0
    end
  end
end

-- What the recipe chose of the contract's options.
local function settle_options(contract, given, place)
  local known, chosen = contract.options or {}, {}
  for name, words in pairs(known) do chosen[name] = words[1] end
  for _, name in ipairs(host.sorted_keys(given)) do
    local words, value = known[name], given[name]
    local fits = false
    for _, word in ipairs(words or {}) do fits = fits or word == value end
    if fits then
      chosen[name] = value
    elseif words then
      host.report("error", "enum", place, ("framework %s: %s is none of %s, got %s"):format(contract.name, name, shown(words), shown(value)),
                  host.nearest(host.tostring(value), words))
    else
      host.report("error", "unknown_key", place, ("framework %s has no option %s"):format(contract.name, shown(name)),
                  host.suggest(host.tostring(name), host.keys(known)))
    end
  end
  return chosen
end

-- The port of the recipe that has this number on this host already, as the meeting point's has on its owner's.
local function port_with(job, number, index, meeting)
  for _, name in ipairs(host.sorted_keys(job.ports)) do
    local port = job.ports[name]
    if number > 0 and port.number == number and (port.host == index or name == meeting) then return name, port end
  end
end

-- Ports that the context asks for, with "auto" or by number: who listens there is the contract's to say.
local function hold_context_ports(job, contract)
  for _, wanted in ipairs(host.context_ports()) do
    local meeting = (contract.meeting or {}).port
    local role_name, owner = (contract.ports or {})[wanted.port], nil
    for _, role in ipairs(job.roles) do
      if role.plays == role_name and not owner then owner = role end
    end
    local port = job.ports[wanted.port]
    local other, there
    if owner then other, there = port_with(job, wanted.number, owner.placed[1].host, meeting) end
    if port and wanted.number > 0 and port.number ~= wanted.number then
      host.report("error", "conflict", wanted.place, ("%s = %d: the port %s that belongs to it has %s"):format(wanted.attribute, wanted.number,
                  wanted.port, port.number > 0 and "the number " .. port.number or "no number of its own"),
                  ('%s = "auto" takes the number of the port'):format(wanted.attribute), { { "port " .. wanted.port, port.place } })
    elseif other and other == meeting then
      host.report("error", "conflict", wanted.place, ("%s = %d: port %s has this number on the same host"):format(wanted.attribute, wanted.number,
                  other), nil, { { "port " .. other, there.place } })
    elseif owner and (not other or other == wanted.port) then
      port = port or { number = wanted.number, place = wanted.place }
      port.host, port.owner = owner.placed[1].host, owner.name .. ".0"
      job.ports[wanted.port] = port
    elseif not port and not owner and wanted.number == 0 then
      host.report("error", "contract_port", wanted.place,
                  ('%s = "auto": framework %s has nobody who would listen there'):format(wanted.attribute, contract.name), "give a number")
    end
  end
end

local function same_list(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    if a[i] ~= b[i] then return false end
  end
  return true
end

-- The object that `each` gets. Its facts are read-only; command, cwd and env can be set.
local FACTS = { "role", "index", "rank", "local_rank", "world_size", "local_size", "host", "devices", "stage", "rank_in_stage",
                "attempt", "ports" }
local SETTABLE = { "command", "cwd", "env" }
local KNOWN, FIXED = { unpack(SETTABLE) }, {}
for _, key in ipairs(FACTS) do
  FIXED[key] = true
  KNOWN[#KNOWN + 1] = key
end

local function env_object(own, job_env)
  return setmetatable({}, {
    __index = function(_, key)
      local variable = own.env[key] or own.role.env[key] or job_env[key]
      return variable and variable.text
    end,
    __newindex = function(_, key, value) jobs.read_variable(key, value, false, host.here(), "process.env", own.env) end,
    __call = function(_, variables) jobs.read_variables(variables, host.here(), "process.env", own.env) end,
    __metatable = false,
  })
end

local function process_object(placed_facts, own, job_env)
  -- A view: what `each` does to it changes neither the layout nor what the contract is told.
  local facts = {}
  for key, value in pairs(placed_facts) do facts[key] = value end
  facts.host = prelude.read_only(facts.host, "process.host")
  facts.ports = prelude.read_only(facts.ports, "process.ports")
  facts.devices = { unpack(facts.devices) }
  facts.env = env_object(own, job_env)
  return setmetatable({}, {
    __index = function(_, key)
      if key == "command" or key == "cwd" then return own[key] or (own.role[key] and (own.role[key].words or own.role[key])) end
      local value = facts[key]
      if value == nil and not FIXED[key] then
        host.stop("unknown_key", host.here(), ("there is no process.%s"):format(host.tostring(key)), host.suggest(host.tostring(key), KNOWN))
      end
      return value
    end,
    __newindex = function(_, key, value)
      local place = host.here()
      local a_process = "a " .. own.role.name  -- not by its number: what is wrong for all of them is told once
      if key == "command" then
        own.command = jobs.read_command(value, place, a_process) or own.command
      elseif key == "cwd" then
        if type(value) ~= "string" then
          host.stop("type", place, ("cwd of %s is a path, got %s"):format(a_process, shown(value)))
        end
        own.cwd = value
      elseif key == "env" then
        host.stop("read_only", place, "process.env cannot be replaced", "set one variable: process.env.NAME = …, or several: process.env { NAME = … }")
      else
        host.stop(FIXED[key] and "read_only" or "unknown_key", place, ("process.%s cannot be set"):format(host.tostring(key)),
                  host.suggest(host.tostring(key), SETTABLE))
      end
    end,
    __metatable = false,
    __muster_pairs = facts,
  })
end

local function meeting_of(job, contract)
  if not contract.meeting then return nil end
  local owner, first
  for _, role in ipairs(job.roles) do
    if role.plays == contract.meeting.role and not owner then owner, first = role, role.placed[1] end
  end
  if not first then return nil end
  local name = contract.meeting.port
  local port = job.ports[name] or { number = 0, place = owner.place }
  port.host, port.owner = first.host, owner.name .. ".0"
  job.ports[name] = port
  return { address = host.hole("host_address", first.host), port = host.hole("port", name) }
end

-- Which devices of each host the job holds, over all its roles: { [host] = { list = {…}, position = { [device] = i } } }.
local function devices_held(job)
  local held = {}
  for _, role in ipairs(job.roles) do
    for _, placed in ipairs(role.placed) do
      local of_host = held[placed.host] or { list = {}, position = {} }
      held[placed.host] = of_host
      for _, device in ipairs(placed.devices) do of_host.list[#of_host.list + 1] = device end
    end
  end
  for _, of_host in pairs(held) do
    table.sort(of_host.list)
    for i, device in ipairs(of_host.list) do of_host.position[device] = i - 1 end
  end
  return held
end

-- The variable by which a device target learns what it may see.
local VISIBLE = { Ascend = "ASCEND_RT_VISIBLE_DEVICES", GPU = "CUDA_VISIBLE_DEVICES" }

-- Index style (the default): a process sees every device that the job holds on its host, and picks one by its
-- number among them; the variable is left alone when that is every device. "own": it sees its own and no other.
-- Returns the value of the variable or nil, the number of its first device among the visible, and how many these are.
local function visibility(role, placed, held, cluster)
  if #placed.devices == 0 then return nil, nil, nil end
  local visible, first = held[placed.host].list, held[placed.host].position[placed.devices[1]]
  if role.visible == "own" then visible, first = placed.devices, 0 end
  return #visible < cluster.devices_of[placed.host + 1] and table.concat(visible, ",") or nil, first, #visible
end

local function describe_processes(job, contract, option, stages)
  local contract_job = { count = { scheduler = 0, server = 0, worker = 0, other = 0 }, meeting = meeting_of(job, contract),
                         option = option, setting = host.setting, setting_file = host.setting_file }
  for _, role in ipairs(job.roles) do
    contract_job.count[role.plays] = contract_job.count[role.plays] + #role.placed
  end
  local held = devices_held(job)
  local hosts, attempt = {}, host.hole "attempt"
  for index = 0, job.cluster.hosts - 1 do
    hosts[index] = { index = index, name = host.hole("host_name", index), address = host.hole("host_address", index) }
  end
  local visible_name = VISIBLE[host.setting("set_context", "device_target")]
  for role_index, role in ipairs(job.roles) do
    local clear = {}
    for i, pattern in ipairs(contract.clear) do clear[i] = pattern end
    host.role {
      name = role.name, plays = role.plays, world = role.world, done = role.done, linger_ms = role.linger_ms,
      signal = role.stop and role.stop.signal, grace_ms = role.stop and role.stop.grace_ms,
      after = role.after_positions, ready = role.ready, restart = role.restart,
      time_ms = role.limits and role.limits.time_ms, silent_ms = role.limits and role.limits.silent_ms,
      command = role.command and role.command.words, cwd = role.cwd,
      clear = clear, env = role.env, env_of = role.env_of or role.name, place = role.place, contract = contract.name,
    }
    for index, placed in ipairs(role.placed) do
      local name = role.name .. "." .. (index - 1)
      local facts = { role = role.plays, index = index - 1, rank = placed.rank, local_rank = placed.local_rank,
                      world_size = placed.world_size, local_size = placed.local_size, devices = placed.devices,
                      host = hosts[placed.host], attempt = attempt, ports = {} }
      local visible, first_visible, visible_count = visibility(role, placed, held, job.cluster)
      facts.device_index = first_visible
      if placed.rank and role.plays == "worker" then
        facts.stage, facts.rank_in_stage = host.stage(placed.rank, placed.world_size, stages)
      end
      for _, port in ipairs(role.ports) do
        local full = name .. "." .. port
        job.ports[full] = { number = 0, host = placed.host, owner = name, place = role.place }
        facts.ports[port] = host.hole("port", full)
      end
      local own = { env = {}, role = role }
      host.enter_process(name, role.each)
      if role.each then
        local process = process_object(facts, own, job.env)
        role.each(process)
        if not same_list(process.devices, placed.devices) then
          host.report("error", "read_only", role.place, ("each of role %s changes process.devices"):format(role.name),
                      "devices = N of the role gives every process N of them")
        end
      end
      host.leave_process()
      local command = own.command or role.command
      if not command then
        host.report("error", "command", role.place, ("each of role %s sets no command, and the role has none"):format(role.name),
                    'process.command = { "program", "argument" }')
        command = { words = { "true" } }
      end
      host.process {
        role = role_index - 1, index = index - 1, placed = placed, stage = facts.stage, rank_in_stage = facts.rank_in_stage,
        visible_name = visible and visible_name, visible = visible, visible_count = visible_count,
        command = command.words, wrap = role.wrap, cwd = own.cwd or role.cwd, place = role.place,
        python = role.python, python_surely = role.python_surely,
        ready_what = role.ready and role.ready.own_port and facts.ports[role.ready.own_port],
        env = own.env, contract_env = contract.env and role.plays ~= "other" and contract.env(facts, contract_job) or nil,
      }
    end
  end
end

-- Called by the engine: evaluates the recipe's plan function with the settled parameters.
local function make_plan(recipe, parameters, cluster, args)
  local names = host.keys(parameters)
  local p = setmetatable({}, {
    __index = function(_, key)
      local value = parameters[key]
      if value == nil then
        host.stop("unknown_key", host.here(), ("there is no parameter %s"):format(host.tostring(key)), host.suggest(host.tostring(key), names))
      end
      return value
    end,
    __newindex = function(_, key)
      host.stop("read_only", host.here(), ("parameter %s cannot be set"):format(host.tostring(key)), "parameters are what the user chose; compute into a local variable")
    end,
    __metatable = false,
    __muster_pairs = parameters,
  })
  local job = jobs.new(cluster, args)
  recipe.plan(p, job.object)
  job.closed = true
  if #args > 0 and not job.args_used then
    host.report("error", "args", recipe.place, ("the recipe takes no words after --, got %s"):format(shown(args)),
                "a recipe takes them through job.args")
  end
  for _, name in ipairs(host.sorted_keys(job.named)) do
    if not job.by_name[name] then
      host.report("error", "roles", job.named[name], ("role %s is named and not described"):format(name), ('job:role "%s" { command = { … } }'):format(name))
    end
  end
  if #job.roles == 0 then
    host.report("error", "roles", recipe.place, "the plan describes no process", "job:workers { count = …, command = { … } }")
  end
  host.stop_if_errors()

  local contract = contracts.load(recipe.framework or "none", recipe.place)
  local option = settle_options(contract, recipe.framework_options, recipe.place)
  settle_roles(job, contract, recipe)
  policies.settle_after(job.roles)
  if contract.check then
    contract.check { roles = job.roles, option = option, setting = host.setting, setting_file = host.setting_file }
  end
  host.stop_if_errors()
  host.place_roles(job.roles, cluster)
  host.stop_if_errors()
  hold_context_ports(job, contract)
  for _, step in ipairs(job.activation) do host.activate(step.kind, step.what) end
  host.begin_processes(job.env)
  local stages = host.setting("set_auto_parallel_context", "pipeline_stages") or 1
  describe_processes(job, contract, option, stages)
  for _, name in ipairs(host.sorted_keys(job.ports)) do host.port(name, job.ports[name]) end
  for _, name in ipairs(host.sorted_keys(job.files)) do host.file(name, job.files[name].text, job.files[name].place) end
  for _, name in ipairs(host.sorted_keys(job.derived)) do host.derived(name, job.derived[name].value) end
end

return { make_plan = make_plan }
