-- The module "muster.context" (and "muster.mindspore"): MindSpore's context API under its own names. Every
-- check is the schema's (src/settings); here are only names and constants. All are there whatever the release; the host
-- is told which ones a recipe takes, and knows which of them the release lacks.
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

return function(name) return prelude.read_only(context, name, host.touch) end
