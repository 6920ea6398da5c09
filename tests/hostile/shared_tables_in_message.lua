-- expect: check
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    local t = { 1 }
    for i = 1, 31 do t = { t, t } end
    job:check(false, "%s", t)
    job:workers { count = 1, command = { "true" } }
  end,
}
