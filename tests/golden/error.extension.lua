-- args: --profile smok
-- Mistakes in an extension are reported at its line, with the line of the base's declaration.
local muster = require "muster"

return muster.load("lib/base_recipe.lua"):extend {
  doc = "wrong in several ways",
  parms = {},
  params = { layers = 0, layer = 3, rate = muster.string { "x" }, data = 1 },
  profiles = { smoke = { more = muster.int { 1 } } },
}
