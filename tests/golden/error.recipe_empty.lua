local muster = require "muster"

return muster.recipe {}
