-- Pipeline and operator parallelism with what replaces set_context and set_auto_parallel_context in MindSpore 2.5 and later;
-- pipeline.lua has a pipeline for older releases. The script wraps its network by muster_context.parallel(network).
--
--   muster plan recipes/mindspore_27.lua hosts=4 devices_per_host=8
local muster    = require "muster"
local mindspore = require "muster.mindspore"

return muster.recipe {
  name      = "mindspore-27",
  doc       = "Training of a network in stages with MindSpore 2.7, one worker per device",
  framework = "mindspore",
  mindspore = "2.7",

  params = {
    script        = muster.path  { "train.py", doc = "the training script" },
    stages        = muster.int   { 2, min = 1, doc = "stages that the network is cut into" },
    batch_size    = muster.int   { 32, min = 1, doc = "rows per device and step" },
    device_memory = muster.bytes { "30GiB", doc = "memory per device that MindSpore may use" },
    precision     = muster.enum  { "allow_mix_precision", one_of = { "allow_mix_precision", "force_fp32" }, doc = "precision of operators" },
  },

  cluster = { hosts = 1, devices_per_host = 8 },

  plan = function(p, job)
    mindspore.set_device("Ascend")
    mindspore.runtime.set_memory { max_size = p.device_memory }
    mindspore.device_context.ascend.op_precision.precision_mode(p.precision)
    mindspore.set_context { mode = mindspore.GRAPH_MODE }
    mindspore.parallel {
      mode = "semi_auto",
      pipeline = { stages = p.stages },
      hsdp = { optimizer_level = "level1" },
      dataset_strategy = "data_parallel",
      enable_gradients_mean = true,
    }

    local rows = muster.exact_div { devices = job.cluster.devices, by = { stages = p.stages } }  -- devices that load data
    local d = job:derive { global_batch_size = p.batch_size * rows }
    job:workers {
      command = { "python3", p.script, "--batch-size", p.batch_size },
      env = { GLOBAL_BATCH_SIZE = d.global_batch_size },
      each = function(process)
        mindspore.set_device("Ascend", process.local_rank)
      end,
    }
  end,
}
