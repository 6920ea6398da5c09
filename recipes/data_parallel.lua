-- MindSpore data parallelism on a dynamic cluster: one worker per device, and a scheduler, which muster adds. The
-- recipe does not set device_num and global_rank: the framework derives them from the cluster.
--
--   muster plan recipes/data_parallel.lua hosts=4 devices_per_host=8
local muster  = require "muster"
local context = require "muster.context"

return muster.recipe {
  name      = "data-parallel",
  doc       = "Data-parallel training with MindSpore, one worker per device",
  framework = "mindspore",
  mindspore = "2.3",

  params = {
    device_target = muster.enum  { "Ascend", one_of = { "Ascend", "GPU" }, doc = "what the devices are" },
    script        = muster.path  { "train.py", doc = "the training script" },
    batch_size    = muster.int   { 32, min = 1, doc = "rows per device and step" },
    device_memory = muster.bytes { "30GiB", doc = "memory per device that MindSpore may use" },
  },

  cluster = { hosts = 1, devices_per_host = 8 },

  plan = function(p, job)
    context.set_context { mode = context.GRAPH_MODE, device_target = p.device_target, max_device_memory = p.device_memory }
    context.set_auto_parallel_context {
      parallel_mode = context.ParallelMode.DATA_PARALLEL,
      gradients_mean = true,
    }

    local d = job:derive { global_batch_size = p.batch_size * job.cluster.devices }
    job:workers {
      command = { "python3", p.script, "--batch-size", p.batch_size },
      env = { GLOBAL_BATCH_SIZE = d.global_batch_size },
      each = function(process)
        process:context { device_id = process.local_rank }
      end,
    }
  end,
}
