-- A recipe that sets forty attributes of the context API, counting tables once: the size of a real job's configuration,
-- for measuring the cost of checking it.
local muster  = require "muster"
local context = require "muster.context"

return muster.recipe {
  name      = "forty-attributes",
  doc       = "Forty attributes of the context API",
  framework = "mindspore",
  mindspore = "2.3",

  params  = { script = muster.path { "train.py", doc = "the training script" } },
  cluster = { hosts = 1, devices_per_host = 8 },

  plan = function(p, job)
    context.set_context {
      mode = context.GRAPH_MODE, device_target = "Ascend", max_device_memory = "30GB", op_timeout = 900,
      save_graphs = 1, save_graphs_path = "graphs", deterministic = "ON", print_file_path = "print.pb",
      precompile_only = false, reserve_class_name_in_scope = true, pynative_synchronize = false,
      debug_level = context.RELEASE, enable_graph_kernel = true, graph_kernel_flags = "--opt_level=2",
      enable_reduce_precision = true, aoe_tune_mode = "online", aoe_config = { job_type = "2" }, check_bprop = false,
      max_call_depth = 2000, grad_for_scalar = true, enable_compile_cache = true, compile_cache_path = "cache",
      inter_op_parallel_num = 4, runtime_num_threads = 8, support_binary = false, memory_optimize_level = "O1",
      memory_offload = "OFF", jit_syntax_level = context.LAX, jit_config = { jit_level = "O1" },
      ascend_config = { precision_mode = "allow_mix_precision", jit_compile = true, exception_dump = "2" },
    }
    context.set_auto_parallel_context {
      parallel_mode = "semi_auto_parallel", gradients_mean = true, gradient_fp32_sync = true,
      dataset_strategy = "data_parallel", enable_parallel_optimizer = true, enable_alltoall = false, pipeline_stages = 2,
      comm_fusion = { allreduce = { mode = "size", config = 64 } }, strategy_ckpt_save_file = "strategy.ckpt",
      parallel_optimizer_config = { gradient_accumulation_shard = true },
    }
    job:workers { command = { "python3", p.script } }
  end,
}
