-- expect: no_recipe
-- message: returns no recipe
local muster = require "muster"
local r = { name = "a", plan = function() end }
muster.recipe(r)
return r
