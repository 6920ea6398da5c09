local muster = require "muster"
return muster.load("ring_b.lua"):extend { name = "a" }
