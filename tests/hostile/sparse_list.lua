-- expect: type
-- message: hole
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    local t = {}
    for i = 0, 40 do t[2 ^ i] = i end
    job:derive { x = t }
    job:workers { count = 1, command = { "true" } }
  end,
}
