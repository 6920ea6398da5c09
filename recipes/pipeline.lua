-- Pipeline × data × tensor parallelism: every degree is derived from the cluster and checked before anything starts.
-- Ranks are laid out so that tensor-parallel neighbours share a host and stages are contiguous.
--
--   muster plan recipes/pipeline.lua hosts=512 pipeline_stages=16 tensor_parallel_size=8
local muster  = require "muster"
local context = require "muster.context"

return muster.recipe {
  name      = "pipeline",
  doc       = "Pretraining with pipeline, data and tensor parallelism",
  framework = "mindspore",
  mindspore = "2.3",

  params = {
    pipeline_stages      = muster.int { 2, min = 1, doc = "stages the layers are cut into" },
    tensor_parallel_size = muster.int { 2, min = 1, doc = "devices that share one layer" },
    layers               = muster.int { 32, min = 1, doc = "transformer layers" },
    micro_batches        = muster.int { 16, min = 1, doc = "micro-batches per step" },
    script               = muster.path { "pretrain.py", doc = "the training script" },
  },

  cluster = { hosts = 1, devices_per_host = 8 },

  plan = function(p, job)
    local n, pp, tp = job.cluster.devices, p.pipeline_stages, p.tensor_parallel_size
    local d = job:derive {
      data_parallel_size = muster.exact_div { devices = n, by = { pipeline_stages = pp, tensor_parallel_size = tp } },
      layers_per_stage   = muster.exact_div { layers = p.layers, by = { pipeline_stages = pp } },
    }
    job:check(p.micro_batches >= pp, "micro_batches = %d leaves some of the %d stages idle", p.micro_batches, pp)
    job:check(tp <= job.cluster.devices_per_host, "tensor_parallel_size = %d does not fit on a host with %d devices",
              tp, job.cluster.devices_per_host)

    local mesh = job:mesh { { "pp", pp }, { "dp", d.data_parallel_size }, { "tp", tp } }  -- tp varies fastest
    context.set_context { mode = context.GRAPH_MODE, device_target = "Ascend", max_device_memory = "30GB" }
    context.set_auto_parallel_context {
      parallel_mode = context.ParallelMode.SEMI_AUTO_PARALLEL,
      device_num = n, pipeline_stages = pp, gradients_mean = true,
    }

    job:workers {
      count = n,
      command = { "python3", p.script, "--layers", p.layers, "--micro-batches", p.micro_batches },
      each = function(process)
        process:context { global_rank = process.rank, device_id = process.local_rank }
        local at = mesh:coords(process.rank)
        process.env.FIRST_LAYER = process.stage * d.layers_per_stage
        process.env.DP_RANK = at.dp
        process.env.TP_RANK = at.tp
      end,
    }
  end,
}
