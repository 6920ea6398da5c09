-- The 175-billion-parameter model of gpt.lua on 512 devices: contains only the differences.
--
--   muster plan recipes/gpt_175b.lua
--   muster plan recipes/gpt_175b.lua --profile smoke      the same on one host, small
local muster  = require "muster"
local context = require "muster.context"

local gpt = muster.load "gpt.lua"

return gpt:extend {
  name = "gpt-175b",
  doc  = "Decoder-only transformer with 175 billion parameters",

  params = {
    layers = 96, hidden_size = 12288, heads = 96,
    pipeline_stages = 16, tensor_parallel_size = 8, global_batch_size = 1536,
    learning_rate = 6e-5,
    warmup_steps  = muster.int { 2000, min = 0, doc = "steps until the learning rate is reached" },
  },

  cluster = { hosts = 64 },

  profiles = {
    smoke = { layers = 2, hidden_size = 1536, heads = 16, pipeline_stages = 1, global_batch_size = 8, warmup_steps = 2 },
  },

  plan = function(p, job, base)
    job:check(p.warmup_steps <= p.steps, "warmup_steps = %d is more than steps = %d", p.warmup_steps, p.steps)
    base(p, job)  -- runs gpt.lua's plan function with the parameters above
    context.set_auto_parallel_context { enable_parallel_optimizer = true }
    job:env { HCCL_CONNECT_TIMEOUT = 1800 }  -- 512 devices take long to connect
  end,
}
