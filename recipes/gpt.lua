-- A decoder-only transformer on pipeline × data × tensor parallelism. Degrees are derived from the cluster; inexact
-- divisions and a model too large for a device are reported before the start. gpt_175b.lua extends it.
--
--   muster plan recipes/gpt.lua hosts=8 pipeline_stages=8 optimizer=sgd
local muster  = require "muster"
local context = require "muster.context"

return muster.recipe {
  name      = "gpt",
  doc       = "Decoder-only transformer, pipeline × data × tensor parallel",
  framework = "mindspore",
  mindspore = "2.3.1",

  params = {
    layers               = muster.int { 32, min = 1, doc = "transformer layers" },
    hidden_size          = muster.int { 4096, min = 1, doc = "width of a layer" },
    heads                = muster.int { 32, min = 1, doc = "attention heads of a layer" },
    sequence_length      = muster.int { 2048, min = 1, doc = "tokens of a sample" },
    vocabulary           = muster.int { 50304, min = 1, doc = "different tokens" },
    global_batch_size    = muster.int { 512, min = 1, doc = "samples of a step, over all devices" },
    micro_batch_size     = muster.int { 1, min = 1, doc = "samples that pass through the pipeline together" },
    pipeline_stages      = muster.int { 4, min = 1, doc = "stages the layers are cut into" },
    tensor_parallel_size = muster.int { 4, one_of = { 1, 2, 4, 8 }, doc = "devices that share a layer" },
    learning_rate        = muster.float { 3e-4, above = 0 },
    steps                = muster.int { 64000, min = 1 },
    optimizer            = muster.variant { "adam", doc = "how weights are updated", one_of = {
      adam = { beta1 = muster.float { 0.9, min = 0, below = 1 }, beta2 = muster.float { 0.95, min = 0, below = 1 } },
      sgd  = { momentum = muster.float { 0.9, min = 0, below = 1 } },
    } },
    device_memory        = muster.bytes { "58GiB", doc = "what the job may use of a device's memory" },
    script               = muster.path { "pretrain.py", doc = "the training script" },
  },

  cluster = { hosts = 8, devices_per_host = 8, device_kind = "ascend" },

  profiles = {
    smoke = { layers = 4, hidden_size = 512, heads = 8, steps = 20, hosts = 1, pipeline_stages = 2, tensor_parallel_size = 2,
              global_batch_size = 16 },
  },

  plan = function(p, job)
    local n, pp, tp = job.cluster.devices, p.pipeline_stages, p.tensor_parallel_size
    job:check(tp <= job.cluster.devices_per_host, "tensor_parallel_size = %d does not fit on a host with %d devices",
              tp, job.cluster.devices_per_host)
    local dp = muster.exact_div { devices = n, by = { pipeline_stages = pp, tensor_parallel_size = tp } }
    local micro_batches = muster.exact_div { global_batch_size = p.global_batch_size,
                                             by = { micro_batch_size = p.micro_batch_size, data_parallel_size = dp } }
    local head_size = muster.exact_div { hidden_size = p.hidden_size, by = { heads = p.heads } }
    muster.exact_div { heads = p.heads, by = { tensor_parallel_size = tp } }
    job:check(micro_batches >= pp, "micro_batches = %d leaves some of the %d stages idle", micro_batches, pp)

    -- Memory of the fullest device. Weights: 12 h² per layer, and the embedding on the first stage; each takes two
    -- bytes, two for its gradient, and four per value that the optimizer keeps in full precision. Activations: 34 bytes
    -- per token and width (half precision, attention recomputed), times the micro-batches in flight in stage 0.
    local layers = muster.exact_div { layers = p.layers, by = { pipeline_stages = pp } }
    local weights = (12 * p.hidden_size ^ 2 * layers + p.vocabulary * p.hidden_size) / tp
    local kept = ({ adam = 3, sgd = 2 })[p.optimizer.variant]
    local under_way = math.min(pp, micro_batches)
    local activations = 34 * p.sequence_length * p.micro_batch_size * p.hidden_size / tp * layers * under_way
    local d = job:derive {
      data_parallel_size = dp,
      micro_batches      = micro_batches,
      layers_per_stage   = layers,
      head_size          = head_size,
      bubble             = (pp - 1) / (micro_batches + pp - 1),
      memory_per_device  = math.ceil(weights * (4 + 4 * kept) + activations),
    }
    job:check(d.memory_per_device <= p.device_memory, "about %s of memory are needed on the fullest device, and the job may use %s",
              muster.size(d.memory_per_device, "GiB"), muster.size(p.device_memory, "GiB"))

    local mesh = job:mesh { { "pp", pp }, { "dp", d.data_parallel_size }, { "tp", tp } }  -- tp varies fastest
    context.set_context { mode = context.GRAPH_MODE, device_target = "Ascend", max_device_memory = p.device_memory }
    context.set_auto_parallel_context {
      parallel_mode = context.ParallelMode.SEMI_AUTO_PARALLEL,
      device_num = n, pipeline_stages = pp, gradients_mean = true,
    }

    job:workers {
      count = n,
      command = { "python3", p.script, "--config", job:file { "gpt.yaml", yaml = { params = p, derived = d } } },
      each = function(process)
        process:context { global_rank = process.rank, device_id = process.local_rank }
        process.env.FIRST_LAYER = process.stage * d.layers_per_stage
        process.env.TP_RANK = mesh:coords(process.rank).tp
      end,
    }
  end,
}
