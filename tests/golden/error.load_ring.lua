-- Recipes that load each other.
local muster = require "muster"

return muster.load("lib/ring_a.lua"):extend { name = "ring" }
