-- expect: lua|unknown_key|type|command|roles
local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "hostile",
  plan = function(p, job)
    job:workers(setmetatable({}, { __index = function(_, k) error("asked for " .. k) end }))
  end,
}
