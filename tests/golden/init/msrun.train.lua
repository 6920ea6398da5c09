-- What this starts, as a recipe:
--
--   msrun --worker_num 16 --local_worker_num=8 --master_port 8118 --cluster_time_out 600 --join True train.py
--
--   muster plan train.lua    every process it would start
--   muster run train.lua     starts them
--
-- Nothing follows from these:
--   --master_port 8118: a free port is found and held, and every process told
--   --join True: muster run waits until all is over; --detach does not
local muster = require "muster"

return muster.recipe {
  name      = "train",
  framework = "mindspore",

  params = {
    per_host = muster.int { 8, min = 1, doc = "processes of each host" },
  },

  cluster = { hosts = 2, devices_per_host = 8 },

  plan = function(p, job)
    job:workers {
      per_host = p.per_host,
      -- devices = 1,  -- a device for each, which no other process gets
      command = { "python3", "train.py", job.args },
      env     = { MS_TOPO_TIMEOUT = "600", override = true },
    }
  end,
}
