-- expect: range
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    for i = 1, 20 do job:role("r" .. i) { count = 1e5, command = { "true" } } end
  end,
}
