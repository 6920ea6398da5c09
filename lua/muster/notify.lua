-- Notifications: the field `notify` of recipes and site files. Starts nothing: what is checked here becomes part of the
-- plan, and the head of a run or sweep sends them (docs/notify.md).
local host, muster, fields = ...

local contents = muster.contents
local function shown(value) return host.show(value) end

local KEYS = muster.field_names "notify"
local EVENTS = muster.field_names "notify.on"
local MOST = 16
local EXAMPLE = 'notify = { command = { "notify-send", "muster" }, on = { "failed", "ended" } }'
local SOURCES = { "from_env", "from_file" }

-- The name of a secret in the text, or nil.
local function secret_in(text) return text:match("%${muster:secret:([^}]*)}") end

-- Where a secret's value comes from, or nil if the value is no secret of the notification itself.
local function source_of(value, place, what)
  local declared = contents(value, "a parameter")
  local given = declared and declared.fields or value
  if declared and given.type ~= "secret" or not declared and (type(value) ~= "table" or muster.kind_of(value)) then return nil end
  if not declared then muster.check_keys(given, SOURCES, what, place) end
  local from_env, from_file = given.from_env, given.from_file
  if (from_env == nil) == (from_file == nil) then
    host.report("error", "missing", place, ("notify: %s must name exactly one source of the secret"):format(what),
                'muster.secret { from_env = "SLACK_WEBHOOK" }, or { from_file = "~/.config/webhook" }')
    return {}
  end
  local name = from_env or from_file
  local sound = type(name) == "string" and name ~= "" and host.is_text(name)
  if sound and from_env then sound = not name:find("=", 1, true) end
  if sound and from_file then sound = name:sub(1, 1) == "/" or name:sub(1, 2) == "~/" end
  if not sound then
    host.report("error", "format", place,
                from_env and ("notify: %s: from_env must be the name of a variable, got %s"):format(what, shown(name))
                  or ("notify: %s: from_file must be a path from / or ~/ on, got %s"):format(what, shown(name)))
    return {}
  end
  return { from_env = from_env, from_file = from_file }
end

-- A text that may be a secret: its text in the plan. Its source, if it is the notification's own, is added to `made`.
local function read_value(value, place, what, name, made)
  local source = source_of(value, place, what)
  if source then
    made.secrets[name] = source
    return host.hole("secret", name)
  end
  local text = host.text(value)
  if not text or not host.is_text(text) then
    host.report("error", "type", place, ("notify: %s must be a text or a secret, got %s"):format(what, shown(value)),
                'muster.secret { from_env = "SLACK_WEBHOOK" }')
    return nil
  end
  host.check_text(text, "notify: " .. what, place)
  return text
end

local function read_events(on, place)
  if on == nil then return { muster.field_default("notify", "on") } end
  if type(on) == "string" then on = { on } end
  local events, seen = {}, {}
  if type(on) ~= "table" or muster.kind_of(on) or #host.sorted_keys(on) ~= #on then
    host.report("error", "type", place, ("notify: on must be a list of events, got %s"):format(shown(on)), 'on = { "failed", "ended" }')
    return events
  end
  for _, event in ipairs(on) do
    if not muster.is_word(EVENTS, event) then
      host.report("error", "enum", place, ("notify: there is no event %s"):format(shown(event)), host.suggest(host.tostring(event), EVENTS))
    elseif not seen[event] then
      seen[event] = true
      events[#events + 1] = event
    end
  end
  if #on == 0 then
    host.report("error", "missing", place, "notify: on is empty, so nothing would ever be sent", 'on = { "failed", "ended" }')
  end
  return events
end

local function read_one(given, place, source)
  local made = { secrets = {}, env = {}, on = read_events(given.on, place), source = source }
  muster.check_keys(given, KEYS, "notify", place)
  if (given.command == nil) == (given.webhook == nil) then
    host.report("error", given.command == nil and "missing" or "conflict", place, "notify must have either command or webhook", EXAMPLE)
    return made
  end
  if given.command ~= nil then
    local command = fields.read_command(given.command, place, "notify")
    made.command = command and command.words
    for position, word in ipairs(made.command or {}) do
      if secret_in(word) then
        host.report("error", "secret", place, ("notify: word %d of command holds the secret %s"):format(position, secret_in(word)),
                    "all users of a machine see command lines: env = { TOKEN = muster.secret { … } }")
      elseif word:find("${muster:", 1, true) then
        host.report("error", "hole", place, ("notify: word %d of command is known only in the run directory: %s"):format(position, shown(word)),
                    'muster.here "notify.sh" names a file beside the recipe; the JSON has the run directory')
      end
    end
  else
    made.webhook = read_value(given.webhook, place, "webhook", "webhook", made)
    local url = made.webhook
    if url and not secret_in(url) and not url:match("^https?://[^%s]+$") then
      host.report("error", "format", place, ("notify: webhook must be an address from http:// or https:// on, got %s"):format(shown(url)),
                  'webhook = muster.secret { from_env = "SLACK_WEBHOOK" }')
    end
    if given.env ~= nil then
      host.report("error", "conflict", place, "notify: env is for command, and this is a webhook", "leave out env")
    end
  end
  if given.env ~= nil and type(given.env) ~= "table" then
    host.report("error", "type", place, ("notify: env must be a table of variables, got %s"):format(shown(given.env)), 'env = { TO = "ann@example.org" }')
  elseif given.env ~= nil then
    for _, name in ipairs(host.sorted_keys(given.env)) do
      if type(name) ~= "string" or not name:match("^[%a_][%w_]*$") then
        host.report("error", "variable", place, ("notify: %s is not a variable name"):format(shown(name)))
      else
        made.env[name] = read_value(rawget(given.env, name), place, "the variable " .. name, name, made)
      end
    end
  end
  return made
end

-- The notifications as a list for the host. `given` is nil, false, a notification or a list of them.
local function read(given, place, source)
  if given == nil or given == false then return {} end
  if type(given) ~= "table" or muster.kind_of(given) then
    host.report("error", "type", place, ("notify must be a table, a list of tables, or false, got %s"):format(shown(given)), EXAMPLE)
    return {}
  end
  local list = #given > 0 and given or { given }
  if next(given) == nil then list = {} end
  if #list > MOST then
    host.report("error", "range", place, ("notify has %d notifications, and may have %d"):format(#list, MOST))
    return {}
  end
  local made = {}
  for position, key in ipairs(host.sorted_keys(list)) do
    local one = rawget(list, key)
    if key ~= position or type(one) ~= "table" or muster.kind_of(one) then
      host.report("error", "type", place, ("notify must be one table or a list of tables, and %s is %s"):format(shown(key), shown(one)), EXAMPLE)
      return {}
    end
    made[position] = read_one(one, place, source)
  end
  return made
end

-- The recipe's `notify`, which may be a function of the parameters, is put into the plan.
local function settle(recipe, p)
  local given = recipe.notify
  if type(given) == "function" then given = given(p) end
  local made = read(given, recipe.notify_place, "recipe")
  host.stop_if_errors()
  host.notify(made)
end

-- A site file has no parameters: its secrets have sources of their own.
local site = muster.api.site
function muster.api.site(facts)
  if type(facts) ~= "table" or facts.notify == nil then return site(facts) end
  local copy = {}
  for key, value in pairs(facts) do copy[key] = value end
  copy.notify = read(facts.notify, host.here(), "site file")
  host.stop_if_errors()
  return site(copy)
end

return { settle = settle }
