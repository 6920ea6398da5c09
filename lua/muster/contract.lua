-- Contracts: what a framework wants to find in the environment of its processes. One page each in
-- frameworks/. A contract is a table:
--
--   name, doc
--   roles    what each role it knows ("scheduler", "server", "worker") is: { min, max, done, linger, add }
--            done = "never": the role serves, and is given `linger` seconds once all others have ended
--            add = "worker": where the recipe describes none, one is added that runs the worker's command
--   meeting  { role, port }: whose host and which named port all processes meet at
--   clear    inherited variables that no process may see: NAME or PREFIX*
--   options  { name = { first, … } }: words that a recipe may choose from, the first one if it does not:
--            framework = { "mindspore-ps", form = "minimal" }
--   ports    { name = role }: ports that attributes of the context may ask for with "auto"; the role's first process
--            listens there
--   env      function(process, job): the variables of one process
--   context  true: its roles get their settled context applied when their script imports the framework
--   check    function(job): reports what the framework cannot do. Both see job.option.NAME, job.setting(function,
--            attribute) and job.setting_file, which gives the JSON that the attribute names, if the recipe ships it;
--            check sees job.roles, too
local host, prelude = ...

local KNOWN = { "mindspore", "mindspore-ps", "none" }
local KEYS = { name = "string", doc = "string", roles = "table", meeting = "table", clear = "table", env = "function",
               options = "table", ports = "table", check = "function", context = "boolean" }

local contracts = {}

function contracts.load(name, place)
  local text = host.framework(name)
  if not text then
    host.stop("framework", place, ("there is no framework %q"):format(name), host.suggest(name, KNOWN))
  end
  local contract = host.load(text, "=muster/frameworks/" .. name, { contract = function(t) return t end, host = host,
                                                                    ipairs = ipairs, tostring = host.tostring,
                                                                    math = math, string = string })()
  for key in pairs(contract) do assert(KEYS[key], "contract " .. name .. " has an unknown field " .. key) end
  for key, kind in pairs(KEYS) do
    assert(contract[key] == nil or type(contract[key]) == kind, "contract " .. name .. ": field " .. key)
  end
  return contract
end

return contracts
