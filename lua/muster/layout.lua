-- From a described job to its processes: adds the contract's roles, places the roles, calls `each` for every process,
-- gets the contract's variables and passes everything to the engine.
local host, prelude, muster, fields, policies, jobs, contracts, rendezvous, parameters, recipes, checkpoints, sweeps, addresses, containers, notify = ...

local function shown(value) return host.show(value) end

-- How a role's Python scripts get their context: "apply" (automatically), "offer" (on request) or nil; and whether this
-- also holds for commands that do not look like Python.
local function python_use(role, contract, recipe)
  local asked = role.apply_context
  if asked and not recipe.mindspore and not role.added then
    host.report("error", "missing", role.place, ("apply_context of role %s: the recipe names no release of MindSpore, so there is no context"):format(role.name),
                'mindspore = "1.6"')
  end
  if asked == nil and contract.context and role.plays ~= "other" then
    return recipe.apply_context == false and "offer" or "apply", false
  end
  if asked == nil then return "offer", false end
  return asked and "apply" or "offer", asked
end

local DESCRIBED = { scheduler = "job:scheduler { command = … }", server = "job:servers { count = …, command = … }",
                    worker = "job:workers { count = …, command = … }" }

-- Adds or refuses roles as the contract requires, and settles the number of processes of each.
local function settle_roles(job, contract, recipe)
  local place = recipe.place
  for _, plays in ipairs(host.sorted_keys(contract.roles)) do
    local rule = contract.roles[plays]
    local model = rule.add and job.by_name[rule.add]
    for _, role in ipairs(rule.add and job.roles or {}) do
      if role.plays == rule.add then model = model or role end
    end
    if model and job.by_name[plays] and job.by_name[plays].plays ~= plays then model = nil end
    local described = false
    for _, role in ipairs(job.roles) do described = described or role.plays == plays end
    if not described and model then
      local command = rule.command and { words = rule.command } or model.command
      local added = { name = plays, plays = plays, world = "", place = model.place, command = command, cwd = model.cwd,
                      count = 1, env = model.env, env_of = model.name, ports = rule.ports or {}, added = true,
                      apply_context = model.apply_context, container = model.container }
      job.by_name[plays] = added
      table.insert(job.roles, 1, added)
    elseif not described and (rule.min or 0) > 0 then
      host.report("error", "roles", place, ("framework %s needs a %s, and the recipe describes none"):format(contract.name, plays),
                  DESCRIBED[plays] or ('job:role "%s" { as = "%s", command = … }'):format(plays, plays))
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
    local count = role.count or role.per_host * #(role.on_hosts or {}) or 0
    if role.per_host and not role.on_hosts then count = role.per_host * job.cluster.hosts end
    if rule.min and count < rule.min then
      host.report("error", "roles", role.place, ("framework %s needs at least %d %s, role %s has %d"):format(contract.name, rule.min, role.plays, role.name, count))
    elseif rule.max and count > rule.max then
      host.report("error", "roles", role.place, ("framework %s takes at most %d %s, role %s has %d"):format(contract.name, rule.max, role.plays, role.name, count))
    end
    role.linger_ms = host.duration_ms(rule.linger or "0s")
    role.python, role.python_surely = python_use(role, contract, recipe)
    role.devices_left_open = role.devices == nil
    if role.devices == nil then
      role.devices = rule.devices or role.plays == "worker" and (job.device_kind or host.devices_asked()) and 1 or 0
    end
    if rule.command and not role.command then role.command = { words = rule.command } end
  end
end

-- The kind of devices of a MindSpore target.
local KIND_OF_TARGET = { Ascend = "ascend", GPU = "cuda" }

-- The kind of the job's devices, if the recipe determines it.
local function kind_of_devices(recipe)
  local kind, target = (recipe.cluster or {}).device_kind, host.setting("set_context", "device_target")
  local of_target = KIND_OF_TARGET[target]
  if kind and of_target and kind ~= of_target then
    host.report("error", "conflict", recipe.place, ("cluster.device_kind = %s, and device_target = %s runs on %s"):format(shown(kind), shown(target), of_target),
                "leave device_kind out")
  end
  return kind or of_target
end

-- The plan's facts about devices: their kind, and whether other runs may share them. If the recipe does not determine
-- the kind, it is that of this machine's devices.
local function settle_devices(job, recipe)
  local used = false
  for _, role in ipairs(job.roles) do used = used or role.devices > 0 end
  local asked = host.devices_asked()
  if used then
    job.device_kind = job.device_kind or host.site_device_kind()
    host.use_devices(job.device_kind, (recipe.cluster or {}).share_devices)
    if asked and not job.device_kind then
      host.report("warning", "devices", recipe.place, "--devices is given, but the kind of the devices is unknown: processes get their devices in MUSTER_DEVICES only",
                  host.file_of(recipe.place):sub(1, 1) == "@"
                    and ('in a recipe of your own: return muster.load("%s"):extend { cluster = { device_kind = "cuda" } }'):format(host.file_of(recipe.place))
                  or 'cluster = { device_kind = "cuda" }')
    end
  elseif asked then
    host.report("error", "devices", recipe.place, "--devices is given, and no role takes a device", "devices = 1 in a role gives every process of it one")
  end
end

-- Settles what the contract has left open; only contracts with worlds = "many" allow workers in several worlds.
local function finish_roles(job, contract)
  local first
  for _, role in ipairs(job.roles) do
    role.done = role.done or (contract.roles[role.plays] or {}).done or "all"
    if role.plays == "worker" and contract.worlds ~= "many" then
      first = first or role
      if first.world ~= role.world then
        host.report("error", "roles", role.place, ("framework %s has one world of workers, and roles %s and %s are in two"):format(contract.name, first.name, role.name),
                    "leave world out, and they are ranked together", { { "role " .. first.name, first.place } })
      end
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
local KNOWN = muster.field_names "process"
local SETTABLE, FACTS = muster.field_names("process", "settable"), muster.field_names("process", "settable", true)
local FIXED = {}
for _, key in ipairs(FACTS) do FIXED[key] = true end

local function env_object(own, job_env)
  return setmetatable({}, {
    __index = function(_, key)
      local variable = own.env[key] or own.role.env[key] or job_env[key]
      return variable and variable.text
    end,
    __newindex = function(_, key, value) fields.read_variable(key, value, false, host.here(), "process.env", own.env) end,
    __call = function(_, variables) fields.read_variables(variables, host.here(), "process.env", own.env) end,
    __metatable = false,
  })
end

local function process_object(placed_facts, own, job_env)
  -- A read-only view: `each` can change neither the layout nor what the contract sees.
  local facts = {}
  for _, key in ipairs(FACTS) do facts[key] = placed_facts[key] end
  facts.host = prelude.read_only(facts.host, "process.host")
  facts.ports = prelude.read_only(facts.ports, "process.ports")
  facts.devices = { unpack(facts.devices) }
  facts.env = env_object(own, job_env)
  local object
  -- process:context { … }: settings of the context for this process alone.
  local function context(self, ...)
    local place = host.here()
    if self ~= object then host.stop("type", place, "process.context is called with a dot", "write process:context { … }") end
    if own.is_laid_out then
      host.stop("order", place, ("process:context of %s is called after its each function"):format(placed_facts.name),
                "call it inside the each function of its role")
    end
    host.process_context((...), select("#", ...) - 1)
  end
  object = setmetatable({}, {
    __index = function(_, key)
      if key == "context" then return context end
      if key == "command" or key == "cwd" then return own[key] or (own.role[key] and (own.role[key].words or own.role[key])) end
      local value = facts[key]
      if key == "rank" and own.role.ranks_by then
        host.stop("rank", host.here(), ("process.rank is not known: rank assigned by %s, when processes register"):format(own.role.ranks_by),
                  "process.index numbers the processes of the role")
      elseif value == nil and not FIXED[key] then
        host.stop("unknown_key", host.here(), ("there is no process.%s"):format(host.tostring(key)), host.suggest(host.tostring(key), KNOWN))
      end
      return value
    end,
    __newindex = function(_, key, value)
      local place = host.here()
      local a_process = "a " .. own.role.name  -- without its number: an error that all of them share is reported once
      if key == "command" then
        own.command = fields.read_command(value, place, a_process) or own.command
        own.command_place = place
      elseif key == "cwd" then
        if type(value) ~= "string" then
          host.stop("type", place, ("cwd of %s must be a path, got %s"):format(a_process, shown(value)))
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
  return object
end

-- The devices that the job's roles hold on each host: { [host] = { list = {…}, position = { [device] = i } } }.
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

-- Index style (the default): a process sees every device that the job holds on its host, and picks one by its number
-- among them. "own": it sees only its own devices. Returns the value of the variable or nil, the number of its first
-- device among the visible, and how many are visible. The plan's device numbers are mapped to actual devices at the start.
-- The variable is set even if these are all devices of the plan's host: the real host may have more, of other jobs. It is not
-- set for a launcher that would pass it to ranks on other hosts.
local function visibility(role, placed, held, contract)
  if #placed.devices == 0 or contract.names_devices or role.passes_variables then return nil, nil, nil end
  local visible, first = held[placed.host].list, held[placed.host].position[placed.devices[1]]
  if role.visible == "own" then visible, first = placed.devices, 0 end
  return host.hole("devices", placed.host, table.concat(visible, ",")), first, #visible
end

-- The number by which a contract that names devices hands out one of them.
local function device_of(asked, device)
  return asked.device_numbers and asked.device_numbers[device + 1] or device
end

-- The job as contracts see it, filled in step by step. contract.lua documents its fields.
local function contract_job(job, contract, option, recipe)
  local asked = { roles = job.roles, place = recipe.place, option = option, cluster = job.cluster, setting = host.setting,
                  setting_file = host.setting_file, in_force = host.in_force, release = host.release(), before = host.release_before,
                  inherited = host.inherited, device_kind = job.device_kind, run_dir = host.hole "run_dir", run_id = host.hole "run_id",
                  attempt = host.hole "attempt", numbers = {}, count = { scheduler = 0, server = 0, worker = 0, other = 0 } }
  for plays in pairs(contract.roles) do asked.count[plays] = 0 end
  function asked.file(name, text)
    return jobs.add_file(job, name, text, contract.place or recipe.place, "job.file expects a name and a text")
  end
  -- The framework, named by `who`, assigns the ranks of these roles, so the plan has none for them.
  function asked.ranks_of(plays, who)
    for _, role in ipairs(job.roles) do
      if role.plays == plays then role.world, role.ranks_by = "", who end
    end
  end
  -- The names of the variables that the recipe sets for a role, sorted.
  function asked.variable_names(role)
    local names = {}
    for _, variables in ipairs { job.env, role.env } do
      for name, variable in pairs(variables) do names[name] = not variable.unset or nil end
    end
    return host.sorted_keys(names)
  end
  return asked
end

-- If a launcher starts a role's processes, the plan contains the launcher instead, on the first of their hosts and with
-- the devices that they have there.
local function put_launchers(job, ask, asked)
  for _, role in ipairs(job.roles) do
    local first = role.placed[1]
    local passes = nil
    if role.plays ~= "other" and first then role.launcher, passes = ask.launcher(role, asked) end
    if role.launcher then
      local devices = {}
      for _, placed in ipairs(role.placed) do
        role.passes_variables = role.passes_variables or passes and placed.host ~= first.host
        for _, device in ipairs(placed.host == first.host and placed.devices or {}) do devices[#devices + 1] = device end
      end
      role.placed = { { host = first.host, world_size = 0, local_rank = 0, local_size = 1, devices = devices } }
      role.plays, role.world = "launcher", ""
      for _, word in ipairs(role.wrap or {}) do role.launcher[#role.launcher + 1] = word end
      role.wrap = role.launcher
    end
  end
end

local function describe_processes(job, contract, ask, asked, stages)
  for _, role in ipairs(job.roles) do
    asked.count[role.plays] = (asked.count[role.plays] or 0) + #role.placed
  end
  asked.worlds, asked.first_world = rendezvous.worlds(job.roles)
  asked.meeting = rendezvous.settle(job, contract, asked.worlds, asked.first_world)
  asked.prepared = ask.prepare(asked)
  local held = devices_held(job)
  local hosts, attempt = {}, asked.attempt
  for index = 0, job.cluster.hosts - 1 do
    hosts[index] = { index = index, name = host.hole("host_name", index), address = host.hole("host_address", index) }
  end
  local visible_name = host.device_variable(job.device_kind)
  local clear = type(contract.clear) == "function" and contract.clear(asked.option) or contract.clear
  local numbers = {}  -- number of the next process of each kind, over all roles of that kind
  contracts.warn_of_absent(contract, job.env, "job:env")
  for role_index, role in ipairs(job.roles) do
    local of_contract = role.plays ~= "other" and role.plays ~= "launcher"
    host.role {
      name = role.name, plays = role.plays, world = role.world, done = role.done, linger_ms = role.linger_ms,
      signal = role.stop and role.stop.signal, grace_ms = role.stop and role.stop.grace_ms,
      checkpoint_signal = role.checkpoint_signal, checkpoint_ms = role.checkpoint_ms,
      after = role.after_positions, ready = role.ready, restart = role.restart,
      time_ms = role.limits and role.limits.time_ms, silent_ms = role.limits and role.limits.silent_ms,
      log_bytes = role.log_bytes, container = role.container,
      command = role.command and role.command.words, cwd = role.cwd,
      clear = clear, env = role.env, env_of = role.env_of or role.name, place = role.place, contract = contract.name,
      contract_defaults = of_contract and ask.defaults(role, asked) or nil,
      contract_env = of_contract and ask.common(role, asked) or nil,
    }
    if not role.added then contracts.warn_of_absent(contract, role.env, "env of role " .. role.name) end
    if role.cores then host.role_cores(role_index - 1, unpack(role.cores)) end
    for index, placed in ipairs(role.placed) do
      local name = role.name .. "." .. (index - 1)
      local number = numbers[role.plays] or 0
      numbers[role.plays] = number + 1
      local facts = { role = role.plays, index = index - 1, rank = placed.rank, local_rank = placed.local_rank,
                      world_size = role.ranks_by and #role.placed or placed.world_size, local_size = placed.local_size, devices = placed.devices,
                      host = hosts[placed.host], attempt = attempt, ports = {}, name = name, role_name = role.name, number = number, world = role.world }
      local visible, first_visible, visible_count = visibility(role, placed, held, contract)
      facts.device_index = first_visible
      facts.position = role.visible ~= "own" and held[placed.host].position or nil
      if placed.rank and role.plays == "worker" then
        facts.stage, facts.rank_in_stage = host.stage(placed.rank, placed.world_size, stages)
      end
      for _, port in ipairs(role.ports) do
        local full = name .. "." .. port
        job.ports[full] = { number = asked.numbers[full] or 0, host = placed.host, owner = name, place = role.place }
        facts.ports[port] = host.hole("port", full)
      end
      local own = { env = {}, role = role }
      host.enter_process(name, role.each)
      if role.each then
        local process = process_object(facts, own, job.env)
        role.each(process)
        own.is_laid_out = true
        addresses.fill_process(job, own)
        if not same_list(process.devices, placed.devices) then
          host.report("error", "read_only", role.place, ("each of role %s changes process.devices"):format(role.name),
                      "devices = N of the role gives every process N of them")
        end
        if contract.absent and next(own.env) then contracts.warn_of_absent(contract, own.env, "process.env of role " .. role.name) end
      end
      local contract_env = of_contract and ask.env(facts, asked) or nil
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
        device_id = #placed.devices == 1 and (first_visible or contract.names_devices and device_of(asked, placed.devices[1])) or nil,
        command = command.words, command_place = own.command_place, wrap = role.wrap, cwd = own.cwd or role.cwd, place = role.place,
        python = role.python, python_surely = role.python_surely,
        ready_what = role.ready and role.ready.own_port and facts.ports[role.ready.own_port],
        env = own.env, contract_env = contract_env,
      }
    end
  end
end

-- Called by the engine: calls the recipe's plan function with the settled parameters, and returns the described job and
-- the parameters that the function got.
local function describe(recipe, values, variants, cluster, args)
  local p = parameters.view(values, variants)
  local contract = contracts.load(recipe)
  local checkpoint = checkpoints.read(recipe, p)
  local job = jobs.new(cluster, args, contract, checkpoints.offered(checkpoint))
  if recipe.version ~= nil then job.object:derive { version = recipe.version } end
  recipes.run_plan(recipe, p, job.object)
  job.closed = true
  if host.depth() == "derived" then return job, p end
  if #args > 0 and not job.args_used then
    host.report("error", "args", recipe.place, ("the recipe takes no words after --, got %s"):format(shown(args)),
                "a recipe takes them through job.args")
  end
  for _, name in ipairs(host.sorted_keys(job.named)) do
    if not job.by_name[name] then
      host.report("error", "roles", job.named[name], ("role %s is named but not described"):format(name), ('job:role "%s" { command = { … } }'):format(name))
    end
  end
  addresses.check_roles(job)
  if #job.roles == 0 then
    host.report("error", "roles", recipe.place, "the plan describes no process", "job:workers { count = …, command = { … } }")
  end
  host.stop_if_errors()
  return job, p, contract, checkpoint
end

-- Judges a point of a sweep: describes the job and evaluates the sweep's conditions.
local function judge_point(recipe, values, variants, cluster, args, where, texts)
  cluster.slots_of, cluster.room_of, cluster.slots_are_tasks = nil, nil, nil
  local job, p = describe(recipe, values, variants, cluster, args)
  if where or #texts > 0 then sweeps.judge(where, texts, p, job) end
end

-- Workers that take no devices and exceed the slots of named hosts: MPI's launchers refuse, others start them.
local function check_slots(job, contract, asked, are_tasks)
  local slots, total, used, last = job.slots, 0, {}, nil
  if not slots then return end
  for _, role in ipairs(job.roles) do
    if role.devices > 0 then return end
    if role.plays == "worker" and role.devices_left_open then
      last = role
      for _, placed in ipairs(role.placed) do used[placed.host] = (used[placed.host] or 0) + 1 end
    end
  end
  local workers, exceeded = 0, false
  for index, number in ipairs(slots) do
    total, workers = total + number, workers + (used[index - 1] or 0)
    exceeded = exceeded or (used[index - 1] or 0) > number
  end
  if not exceeded then return end
  local severity = contract.slots and contract.slots(asked.option) or "warning"
  if severity == "none" then return end
  local hosts = (are_tasks and "in an allocation of %d tasks" or "on hosts with %d slots"):format(total)
  local more = are_tasks and "ask for more tasks (salloc -n, tasks_per_node)" or "name more slots (--host NAME:N)"
  local counts = are_tasks and "workers fill the tasks that the allocation was asked for" or "the N of --host NAME:N counts slots"
  host.report(severity, "placement", last.place,
              workers > total and ("%d workers %s"):format(workers, hosts)
                or ("%d workers %s, and one host has more than its %s"):format(workers, hosts, are_tasks and "tasks" or "slots"),
              severity == "error" and more .. ', lower the count, or args = { "--oversubscribe" }'
                or counts .. "; devices = 0 in the role says that its processes need none")
end

-- Refuses a plan without processes: it would succeed at once without having done anything.
local function want_processes(job, recipe)
  local empty = nil
  for _, role in ipairs(job.roles) do
    if #role.placed > 0 then return end
    empty = empty or role
  end
  host.report("error", "roles", empty.place or recipe.place,
              #job.roles == 1 and ("the plan has no process: the count of role %s is 0"):format(empty.name)
                or ("the plan has no process: the counts of all %d roles are 0"):format(#job.roles),
              "count = 1 or more; to leave out one role among others, do not describe it")
end

local function make_plan(recipe, values, variants, cluster, args)
  local slots, room, are_tasks = cluster.slots_of, cluster.room_of, cluster.slots_are_tasks
  cluster.slots_of, cluster.room_of, cluster.slots_are_tasks = nil, nil, nil  -- recipes see devices_of
  local job, p, contract, checkpoint = describe(recipe, values, variants, cluster, args)
  if host.depth() ~= "plan" then return end

  local option = contracts.settle_options(contract, recipe.framework_options, recipe.place, p)
  job.device_kind = kind_of_devices(recipe)
  settle_roles(job, contract, recipe)
  settle_devices(job, recipe)
  checkpoints.settle(checkpoint, job)
  policies.settle_after(job.roles)
  policies.settle_logs(job.roles, recipe.logs, recipe.place)
  containers.settle(job.roles, recipe.container, recipe.place, job.device_kind)
  notify.settle(recipe, p)
  contracts.declare(contract)
  local asked = contract_job(job, contract, option, recipe)
  local ask = contracts.asked(contract, asked)
  ask.arrange(asked)
  jobs.refuse_same_ports(job)
  finish_roles(job, contract)
  ask.check(asked)
  host.stop_if_errors()
  job.slots, asked.slots_of = slots, slots
  host.place_roles(job.roles, { slots_of = slots, room_of = room })
  host.stop_if_errors()
  check_slots(job, contract, asked, are_tasks)
  host.stop_if_errors()
  want_processes(job, recipe)
  host.stop_if_errors()
  put_launchers(job, ask, asked)
  containers.refuse_launchers(job.roles)
  addresses.settle(job)
  rendezvous.hold_context_ports(job, contract)
  for _, step in ipairs(job.activation) do host.activate(step.kind, step.what) end
  host.begin_processes(job.env)
  describe_processes(job, contract, ask, asked, host.pipeline_stages())
  for _, name in ipairs(host.sorted_keys(job.ports)) do host.port(name, job.ports[name]) end
  for _, name in ipairs(host.sorted_keys(job.files)) do host.file(name, job.files[name].text, job.files[name].place) end
end

return { make_plan = make_plan, judge_point = judge_point }
