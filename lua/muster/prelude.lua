-- The global environment of recipes: a small, read-only world with deterministic functions. Depends on the language
-- only; muster.lua and job.lua know what recipes are about.
--
-- Called once by the engine with the host functions (src/lua/bind/bind_*.cc). Returns what muster's other files use.
local host = ...

local env = {}
for _, name in ipairs { "_VERSION", "assert", "error", "ipairs", "pcall", "rawequal", "rawget", "select", "setmetatable",
                        "tonumber", "type", "unpack", "getmetatable" } do
  env[name] = _G[name]
end
env.tostring = host.tostring

-- Whether a table is read-only: those with a hidden metatable are also protected against raw access.
local function guarded(table)
  local meta = type(table) == "table" and host.raw_metatable(table)
  return meta and rawget(meta, "__metatable") == false
end

function env.rawset(table, key, value)
  if guarded(table) then host.stop("read_only", host.here(), "rawset: this table cannot be changed") end
  return rawset(table, key, value)
end

-- The instruction limit does not apply inside a handler of its own error, so the user's handler is not called then: it
-- might never return.
function env.xpcall(f, handler, ...)
  return xpcall(f, function(problem)
    if host.is_over() then return problem end
    return handler(problem)
  end, ...)
end

-- Members that users of other languages expect, and their names here.
local MEMBERS = {
  muster = { text = "string", str = "string", number = "float", double = "float", integer = "int", boolean = "bool",
             array = "list", tuple = "list", dict = "map", table = "map", time = "duration", yaml = "read_yaml",
             json = "read_json", env = "string { from_env = \"NAME\" }" },
}

-- Libraries are copies that cannot be changed, so one module cannot affect another; a plain list in a library
-- is copied for each reader. `touched` is called with the name of each member that is read, until it returns
-- true.
local function read_only(table, what, touched)
  local fine = touched and {}
  return setmetatable({}, {
    __index = function(_, key)
      local value = table[key]
      if value == nil then
        local name = host.tostring(key)
        host.stop("unknown_key", host.here(), ("there is no %s in %s"):format(name, what),
                  what == "math" and name:find("^random") and
                    "the plan must be the same everywhere: pass numbers of chance as parameters" or
                  MEMBERS[what] and MEMBERS[what][name] and ("write: %s.%s"):format(what, MEMBERS[what][name]) or
                  host.suggest(name, host.keys(table)))
      end
      if touched and not fine[key] then fine[key] = touched(key) end
      if type(value) == "table" and not host.raw_metatable(value) then return { unpack(value) } end
      return value
    end,
    __newindex = function(_, key)
      host.stop("read_only", host.here(), ("%s cannot be set in %s"):format(host.tostring(key), what))
    end,
    __metatable = false,
    __muster_pairs = table,
  })
end
for _, library in ipairs { "string", "table", "math", "coroutine" } do
  local copy = {}
  for key, value in pairs(_G[library]) do copy[key] = value end
  if library == "table" then
    -- These functions write without using a metatable.
    for _, name in ipairs { "insert", "remove", "sort" } do
      copy[name] = function(table, ...)
        if guarded(table) then host.stop("read_only", host.here(), ("table.%s: this table cannot be changed"):format(name)) end
        return _G.table[name](table, ...)
      end
    end
  end
  env[library] = read_only(copy, library)
end

-- Tables are iterated in the order of their keys: numbers, then strings, then booleans.
local function source_of(table)
  local meta = type(table) == "table" and host.raw_metatable(table)
  local reads = meta and rawget(meta, "__muster_reads")
  if reads then reads() end
  return meta and rawget(meta, "__muster_pairs") or table
end

local function want_table(table, name)
  if type(table) ~= "table" then error(("bad argument #1 to '%s' (table expected, got %s)"):format(name, type(table)), 3) end
end

function env.pairs(table)
  want_table(table, "pairs")
  local source = source_of(table)
  local keys, position = host.sorted_keys(source), 0
  return function()
    local key
    repeat
      position = position + 1
      key = keys[position]
      if key == nil then return nil end
    until rawget(source, key) ~= nil
    return key, rawget(source, key)
  end, table, nil
end

-- Order of keys by type.
local RANK = { number = 1, string = 2, boolean = 3 }
local function comes_after(a, b)
  if type(a) ~= type(b) then return RANK[type(a)] > (RANK[type(b)] or 0) end
  if type(a) == "boolean" then return a and not b end
  return a > b
end

-- The key may have been removed during the iteration, as in: for k in next, t do t[k] = nil end
function env.next(table, key)
  want_table(table, "next")
  local source = source_of(table)
  for _, candidate in ipairs(host.sorted_keys(source)) do
    if key == nil or comes_after(candidate, key) then return candidate, rawget(source, candidate) end
  end
  return nil
end

function env.print(...)
  local words = {}
  for i = 1, select("#", ...) do words[i] = host.tostring((select(i, ...))) end
  host.print(table.concat(words, "\t"))
end

local loaded, loading = {}, {}
local folders = {}  -- by file that has run: the folder of its recipe, relative to the folder of the recipe that is run

-- The folder, with its slash, to which names in the file of that place are relative; "" for the recipe that is run.
local function folder(place) return folders[host.file_of(place)] or "" end

-- Runs a text as a file of a recipe in that folder.
local function run(text, file, of_folder)
  local chunk, problem = host.load(text, "@" .. file, env)
  if not chunk then host.stop_at_syntax(problem, text) end
  folders[file] = of_folder
  return host.run_file(chunk, text, file)
end

-- Modules are muster's own ("muster", "muster.context", …) or files beside the recipe: require "lib.optim" loads
-- lib/optim.lua in the recipe's folder.
function env.require(name)
  local place = host.here()
  if type(name) ~= "string" or not name:match("^@?[%w_][%w_%-]*[%w_%-./]*$") or name:find("..", 1, true) then
    host.stop("require", place, "require expects the name of a module beside the recipe, got " .. host.show(name))
  end
  local own = host.module(name)
  if own then return own end
  -- "@acme/lib.optim" and "@acme.lib.optim" are lib/optim.lua of the library acme, in any file.
  local library, rest = name:match("^(@[^/.]+)[/.](.+)$")
  local of_folder, short = library and library .. "/" or folder(place), rest or name
  local path = of_folder .. (short:find("%.lua$") and short or short:gsub("%.", "/") .. ".lua")
  local module = loaded[path]
  if module ~= nil then return module end
  if loading[path] then host.stop("require", place, ("module %q requires itself, or could not be loaded before"):format(name)) end
  loading[path] = true
  local text, file = host.read_beside(path)
  if not text then
    loading[path] = nil
    host.stop("require", place, ("module %q cannot be read: %s"):format(name, file),
              "modules are \"muster\", \"muster.context\", \"muster.mindspore\" and files beside the recipe")
  end
  module = run(text, file, of_folder)
  loading[path] = nil
  if module == nil then module = true end
  loaded[path] = module
  return module
end

env._G = env

-- Parts of Lua that recipes do not have, and what to use instead: a plan must be the same on every machine.
local INSTEAD = {
  os = 'the plan must be the same everywhere: what differs is a parameter: params = { data = muster.string { "data", from_env = "DATA" } }',
  io = "files beside the recipe are read by muster.read_json and muster.read_yaml, and given to processes by muster.file and muster.here",
  dofile = 'muster.load "FILE" takes another recipe, require "MODULE" a module beside this one',
  loadfile = 'muster.load "FILE" takes another recipe, require "MODULE" a module beside this one',
  package = 'require "MODULE" finds modules beside the recipe and in libraries of the site',
  module = "a module returns a table: local m = {} … return m",
}
for _, name in ipairs { "load", "loadstring", "setfenv", "getfenv", "debug", "jit", "ffi", "collectgarbage", "gcinfo", "newproxy", "bit" } do
  INSTEAD[name] = INSTEAD[name] or "a recipe is evaluated in a sandbox: muster docs recipes lists what is there"
end

-- Words of other languages, and what is written here.
local MEANT = {
  True = "true", False = "false", None = "nil", null = "nil", NULL = "nil", nullptr = "nil", undefined = "nil",
  len = "#LIST is the length of a list or a text", str = "tostring(VALUE)", int = "math.floor(NUMBER), or tonumber(TEXT)",
  float = "tonumber(TEXT)", range = "for i = 1, COUNT do … end", enumerate = "for i, x in ipairs(LIST) do … end",
  f = '("%d of %s"):format(NUMBER, TEXT)', echo = "print(…)", max = "math.max", min = "math.min", abs = "math.abs",
  round = "math.floor(NUMBER + 0.5)", sum = "a loop: for _, x in ipairs(LIST) do total = total + x end",
  muster = 'local muster = require "muster"', Muster = 'local muster = require "muster"', context = 'local context = require "muster.context"',
  mindspore = 'local mindspore = require "muster.mindspore"', try = "pcall(FUNCTION)", catch = "pcall(FUNCTION)", raise = 'error("…"), or job:check(CONDITION, "…")',
  throw = 'error("…"), or job:check(CONDITION, "…")', sprintf = '("%d of %s"):format(NUMBER, TEXT)', append = "table.insert(LIST, VALUE)",
  sorted = "table.sort(LIST)", zip = "a loop: for i = 1, #LIST do … end", inf = "math.huge", nan = "0 / 0", input = "a parameter, which the command line gives: p.NAME",
  dict = "{ NAME = VALUE }", list = "{ VALUE, … }", any = "a loop with if", all = "a loop with if",
}
-- Quotes of word processors are letters to Lua.
local function typographic(name)
  for _, quote in ipairs { "“", "”", "„", "‘", "’", "«", "»" } do
    if name:find(quote, 1, true) then return true end
  end
end

-- What to write instead of an undefined name.
local function instead_of(name)
  local blank = host.suggest(name, {})
  if blank then return blank end
  if typographic(name) then return 'texts stand between straight quotes: "…"' end
  if MEANT[name] then return "write: " .. MEANT[name] end
  return host.nearest(name, host.keys(env)) or ("a parameter is p.%s; other names have to be local"):format(name)
end

-- Reports undefined and undeclared global names where they are used.
setmetatable(env, {
  __index = function(_, key)
    if INSTEAD[key] then
      host.stop("undefined", host.here(), ("%s is not available in a recipe"):format(key), INSTEAD[key])
    end
    host.stop("undefined", host.here(), ("%s is not defined"):format(host.tostring(key)), instead_of(host.tostring(key)))
  end,
  __newindex = function(_, key)
    host.stop("global", host.here(), ("%s is assigned but not local"):format(host.tostring(key)),
              host.suggest(host.tostring(key), {}) or ("write: local %s = …"):format(host.tostring(key)))
  end,
  __metatable = false,
})

return { run = run, folder = folder, read_only = read_only, globals = env }
