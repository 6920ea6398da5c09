-- expect: read_only
local muster = require "muster"
local r = muster.recipe { name = "a", plan = function() end }
r.name = "../../../etc/cron.d/x"
return r
