-- expect: limit
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  mindspore = "1.6",
  plan = function(p, job)
    while true do context.set_context { mode = 0 } end
  end,
}
