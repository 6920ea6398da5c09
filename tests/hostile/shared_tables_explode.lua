-- expect: type
-- message: more than a million
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    local t = { 1 }
    for i = 1, 31 do t = { t, t } end
    job:derive { x = t }
    job:workers { count = 1, command = { "true" } }
  end,
}
