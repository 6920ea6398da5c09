local muster = require "muster"

string.trim = function(s) return s:match("^%s*(.-)%s*$") end

return muster.recipe { name = "case", plan = function() end }
