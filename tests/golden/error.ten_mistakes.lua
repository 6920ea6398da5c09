local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  framework = "mindspore-ps",
  mindspore = "1.6",
  plan = function(p, job)
    context.set_context { mode = context.PYNATIVE_MODE }
    context.set_context { max_call_dept = 80 }
    context.set_context { device_id = "0" }
    context.set_context { device_id = 4096 }
    context.set_context { auto_tune_mode = "RL, GA" }
    context.set_context { max_device_memory = "30 GB" }
    context.set_auto_parallel_context { mirror_mean = true }
    context.set_auto_parallel_context { parallel_mode = context.ParallelMode.AUTO_PARALLEL }
    context.set_auto_parallel_context { all_reduce_fusion_config = { 160, 8 } }
    context.set_auto_parallel_context { comm_fusion = { allreduce = { mode = "size" } } }
    context.set_auto_parallel_context { full_batch = true, dataset_strategy = "data_parallel" }

    job:servers { command = { "train" } }
    job:workers { count = 2, command = { "train" } }
  end,
}
