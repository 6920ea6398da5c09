local muster = require "muster"

return muster.recipe {
  name = "my job",
  framwork = "mindspore",
  param = {},
  cluster = { host = 2 },
  doc = 7,
  plan = "train.py",
}
