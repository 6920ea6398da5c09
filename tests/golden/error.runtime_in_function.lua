local muster = require "muster"

local function half(n)
  if n % 2 == 1 then error("half: " .. n .. " is odd") end
  return n / 2
end

return muster.recipe {
  name = "case",
  plan = function(p, job)
    job:workers { count = half(7), command = { "train" } }
  end,
}
