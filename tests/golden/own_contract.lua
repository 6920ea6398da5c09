-- A contract of the recipe's own: actors that find a learner.
local muster = require "muster"

local actors = muster.contract {
  name    = "actors",
  doc     = "Actors that send what they see to a learner.",
  roles   = { learner = { min = 1, max = 1 }, actor = { min = 1, done = "never", linger = "10s" } },
  meeting = { role = "learner", port = "learner" },
  clear   = { "ACTORS_*" },
  common  = function(role, job)
    return { ACTORS_LEARNER = job.meeting.address .. ":" .. job.meeting.port, ACTORS_COUNT = job.count.actor }
  end,
  env = function(process)
    if process.role == "actor" then return { ACTORS_NUMBER = process.number } end
  end,
}

return muster.recipe {
  name      = "own-contract",
  framework = actors,
  plan = function(p, job)
    job:role "learner" { as = "learner", command = { "learn" } }
    job:role "slow" { as = "actor", count = 1, command = { "act", "--slow" } }
    job:role "fast" { as = "actor", count = 2, command = { "act" } }
  end,
}
