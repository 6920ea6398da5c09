-- A sweep over training and layout: learning rate and batch size, and matching numbers of workers and servers. Every
-- few passes the trials are compared, and those that fall behind are stopped.
--
--   muster sweep recipes/sweep_digits.lua --preview
--   muster sweep recipes/sweep_digits.lua
--   muster best
local muster = require "muster"

return muster.sweep {
  name   = "digits",
  doc    = "How fast handwritten digits are learnt, by learning rate, batch size and layout",
  recipe = muster.load "parameter_server.lua",
  fixed  = { epochs = 27 },

  space = muster.product {
    lr         = muster.choice { 0.03, 0.1, 0.3, 1.0 },
    batch_size = muster.choice { 16, 64, 256 },
    muster.zip { workers = { 1, 2, 3, 4 }, servers = { 1, 1, 2, 2 } },  -- the layout: these vary together
  },

  objective  = muster.minimize "loss",
  early_stop = muster.asha { resource = "epoch", min = 3, max = 27, eta = 3 },
  retry      = { max = 1 },
}
