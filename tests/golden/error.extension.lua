-- args: --profile smok
-- What an extension says wrong is told at its line, with where the base declares it.
local muster = require "muster"

return muster.load("lib/base_recipe.lua"):extend {
  doc = "wrong in several ways",
  parms = {},
  params = { layers = 0, layer = 3, rate = muster.string { "x" }, data = 1 },
  profiles = { smoke = { more = muster.int { 1 } } },
}
