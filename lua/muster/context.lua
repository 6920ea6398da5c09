-- The modules "muster.context" and "muster.mindspore": MindSpore's context API under its own names. The schema checks
-- all calls (src/settings); this file has only names and constants, those of all releases. The host is notified of each
-- name that a recipe uses, and reports names that its release lacks.
local host, prelude = ...

local context = {
  GRAPH_MODE = 0, PYNATIVE_MODE = 1,
  STRICT = 0, COMPATIBLE = 1, LAX = 2,
  RELEASE = 0, DEBUG = 1,
  ParallelMode = prelude.read_only({
    STAND_ALONE = "stand_alone", DATA_PARALLEL = "data_parallel", HYBRID_PARALLEL = "hybrid_parallel",
    SEMI_AUTO_PARALLEL = "semi_auto_parallel", AUTO_PARALLEL = "auto_parallel",
    MODE_LIST = { "stand_alone", "data_parallel", "hybrid_parallel", "semi_auto_parallel", "auto_parallel" },
  }, "context.ParallelMode"),
}

local function setter(name)
  context["set_" .. name] = function(arguments, ...)
    host.set_context("set_" .. name, arguments, select("#", ...))
  end
end
local function getter(name)
  context["get_" .. name] = function(attribute) return host.get_context("set_" .. name, attribute) end
end
for _, name in ipairs { "context", "auto_parallel_context", "ps_context" } do
  setter(name)
  getter(name)
end
for _, name in ipairs { "auto_parallel_context", "ps_context" } do
  context["reset_" .. name] = function() host.reset_context("set_" .. name) end
end

-- "muster.mindspore" has the functions of lua/muster/schema/functions.lua as well: set_device, runtime.set_memory, … They
-- are read when a recipe names one that is not above.
local mindspore = {}
for name, value in next, context do mindspore[name] = value end

local function add_functions()
  local folders = { [""] = mindspore }
  local function folder(path)
    if not folders[path] then
      local above, name = path:match("^(.-)%.?([^.]+)$")
      folders[path] = {}
      folder(above)[name] = prelude.read_only(folders[path], "mindspore." .. path)
    end
    return folders[path]
  end
  for _, path in ipairs(host.functions()) do
    local above, name = path:match("^(.-)%.?([^.]+)$")
    folder(above)[name] = function(...) host.call_function(path, ...) end
  end
end
setmetatable(mindspore, { __index = function(_, key)
  setmetatable(mindspore, nil)
  add_functions()
  return mindspore[key]
end })

return function(name) return prelude.read_only(name == "muster.mindspore" and mindspore or context, name, host.touch) end
