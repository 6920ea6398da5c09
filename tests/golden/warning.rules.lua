local muster = require "muster"
local context = require "muster.context"

return muster.recipe {
  name = "case",
  framework = "mindspore",
  mindspore = "2.3",
  plan = function(p, job)
    context.set_context { mode = context.GRAPH_MODE, device_target = "CPU", max_call_depth = 5000 }
    context.set_context { enable_graph_kernel = true, graph_kernel_flags = "--opt_level=0 dump_as_text" }
    context.set_context { memory_offload = "ON", memory_optimize_level = "O1" }
    context.set_context { runtime_num_threads = 64 }
    context.set_auto_parallel_context { parallel_mode = context.ParallelMode.HYBRID_PARALLEL }
    context.set_auto_parallel_context { parallel_optimizer_config = { parallel_optimizer_threshold = 24 } }
    job:workers { count = 2, command = { "train" } }
  end,
}
