-- expect: missing|type
local muster = require "muster"
return muster.recipe { name = "a", plan = nil }
