-- A module of the golden recipes: learning rates.
local schedule = {}

function schedule.warmup(steps)
  if steps < 0 then error("warmup: steps is negative, got " .. steps, 2) end
  return ("linear:%d"):format(steps)
end

return schedule
