local muster = require "muster"
return muster.load("ring_a.lua"):extend { name = "b" }
