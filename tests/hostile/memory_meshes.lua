-- expect: limit
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    for i = 1, math.huge do job:mesh { { "axis" .. i, 2 } } end
  end,
}
