-- expect: limit
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    local n = 0
    while true do n = n + 1 end
  end,
}
