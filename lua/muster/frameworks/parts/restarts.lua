-- The smallest `restart` scope of frameworks in which a single process cannot rejoin: contracts refuse smaller ones.
local WIDTH = { process = 1, role = 2, job = 3 }

return {
  -- Hints for the two usual solutions.
  all_workers = 'scope = "role" starts all workers again, scope = "job" the whole job',
  all = 'scope = "job" starts all of them again',

  -- Reports each restart with a scope below `least` for which refused(role) returns a reason.
  at_least = function(least, job, refused, hint)
    for _, role in ipairs(job.roles) do
      local why = role.restart and role.restart.max ~= 0 and WIDTH[role.restart.scope] < WIDTH[least] and refused(role)
      if why then host.report("error", "restart", role.place, ("role %s: %s"):format(role.name, why), hint) end
    end
  end,
}
