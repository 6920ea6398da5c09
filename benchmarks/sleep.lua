-- Processes that end at once, so that only starting and supervising them costs time.
local muster = require "muster"

return muster.recipe {
  name = "sleep",
  doc  = "A number of processes that sleep for a while",
  params = {
    count   = muster.int { 4, min = 1, doc = "processes" },
    seconds = muster.float { 0, min = 0, doc = "how long each sleeps" },
  },
  plan = function(p, job)
    job:workers { count = p.count, command = { "sleep", p.seconds } }
  end,
}
