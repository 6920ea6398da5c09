-- By which variable each of muster's own pages of engines says that a process is inside an allocation: what is looked at on
-- every call, in one piece. In order: Flux may run inside an allocation of another engine, and is then the nearer one.
-- page(path, environment) gives one of muster's own files as a function.
local page = ...

local signs = {}
for i, name in ipairs { "flux", "slurm", "pbs", "lsf", "gridengine" } do
  signs[i] = { name = name, inside = page("muster/engines/" .. name .. ".lua", {})().inside }
end
return signs
