-- args: l=1,2,3 names=a,2b m=a:1,b=x one=1 broken=[1,'a'] spaced=a,,b
local muster = require "muster"

return muster.recipe {
  name = "case",
  params = {
    l = muster.list { { 1 } }, names = muster.list { { "x" }, doc = "who is there" }, m = muster.map { { a = 1 } },
    one = muster.list { {} }, broken = muster.list { {} }, spaced = muster.list { {} },
  },
  plan = function(p, job) job:workers { count = 1, command = { "train" } } end,
}
