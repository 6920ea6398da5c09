-- What this starts, as a recipe:
--
--   torchrun --nnodes 2:4 --nproc_per_node=8 --rdzv-endpoint h:29400 --max_restarts 3 train.py --lr 0.1 'a "b"\n' --nnodes 1
--
--   muster plan train.lua    every process it would start
--   muster run train.lua     starts them
--
-- Nothing follows from these:
--   --nnodes 2:4: a job has as many hosts as its plan: the most of them here
--   --rdzv-endpoint h:29400: a free port is found and held, and every process told
local muster = require "muster"

return muster.recipe {
  name      = "train",
  framework = "torch",

  params = {
    per_host = muster.int { 8, min = 1, doc = "processes of each host" },
  },

  cluster = { hosts = 4, devices_per_host = 8 },

  plan = function(p, job)
    job:workers {
      per_host = p.per_host,
      -- devices = 1,  -- a device for each, which no other process gets
      command = { "python3", "train.py", "--lr", "0.1", "a \"b\"\n", "--nnodes", "1", job.args },
      restart = { max = 3, scope = "role" },
    }
  end,
}
