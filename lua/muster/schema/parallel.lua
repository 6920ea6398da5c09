-- The settings of mindspore.parallel.auto_parallel.AutoParallel as one function with parameters, `parallel { … }`: the
-- constructor's parallel_mode, and one parameter per method under the method's name. Fields as in functions.lua.
-- A bool stands for a method without parameters, which is called where it is true; a table has the parameters of a method that
-- takes several. AutoParallel wraps a network, so muster_context.parallel(network) in the script makes the calls.
--   replaces     here also of sub-keys: the attribute whose value the network is compiled without
local old = "set_auto_parallel_context."
local refuses = { behaviour = "refuses it" }

local function switch(name, doc, replaces)
  return { name, kind = "bool", default = false, replaces = replaces and old .. replaces, per_process = false, doc = doc }
end
-- Files and folders may differ between processes: usually their names hold the rank.
local function file(name, doc, replaces)
  return { name, kind = "string", default = "", replaces = replaces and old .. replaces, doc = doc }
end
local function strategy_of_operators(name, doc)
  return { name, kind = "string", absolute = true, suffix = ".json", sources = { absolute = refuses, suffix = refuses }, doc = doc }
end

return {
  { "parallel", since = "2.6", repeats = "once", by_name = true,
    doc = "Give the network that the script wraps with muster_context.parallel the settings of AutoParallel.",
    parameters = {
      { "mode", kind = "enum", choices = { "semi_auto", "sharding_propagation", "recursive_programming" }, default = "semi_auto", always = true,
        passed_as = "parallel_mode", replaces = old .. "parallel_mode", per_process = false,
        rule = "MindSpore 2.6 takes every text and fails later", changed = { ["2.7"] = { rule = "" } },
        doc = "How operators are cut: as the network says, by propagation, or by search." },
      { "hsdp", kind = "dict", replaces = old .. "enable_parallel_optimizer", per_process = false,
        doc = "Cut the optimizer's weights and states among devices; {} takes the defaults.", keys = {
          { "shard_size", kind = "int", min = 1, also = { -1 }, default = -1, replaces = old .. "parallel_optimizer_config",
            sources = { shards = { document = "descriptions of 2.3", behaviour = "lets a size that does not divide them have no effect" } },
            rule = "MindSpore takes true for 1, muster does not", doc = "Devices that share one copy of the weights; -1: all." },
          { "threshold", kind = "int", min = 0, default = 64, rule = "MindSpore takes true for 1, muster does not",
            doc = "Parameters below this many KB are not cut." },
          { "optimizer_level", kind = "enum", choices = { "level1", "level2", "level3" }, default = "level1",
            doc = "What is cut: weights and states (1), gradients as well (2), parameters as well (3)." },
      } },
      { "pipeline", kind = "dict", replaces = old .. "pipeline_stages", per_process = false, doc = "Cut the network into stages.", keys = {
          { "stages", kind = "int", min = 1, default = 1, divides = "job.workers",
            sources = { divides = { behaviour = "fails when a graph is compiled" } },
            doc = "Number of stages; devices are divided evenly among them." },
          { "output_broadcast", kind = "bool", default = false, replaces = old .. "pipeline_result_broadcast",
            doc = "Give the result of the last stage to all stages." },
          { "interleave", kind = "bool", default = false, replaces = old .. "pipeline_config", doc = "Let stages take turns with parts of a batch." },
          { "scheduler", kind = "enum", choices = { "1f1b", "gpipe" }, default = "1f1b", doc = "Order of forward and backward steps.",
            changed = { ["2.7"] = { choices = { "1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp" } } } },
      } },
      { "dataset_strategy", kind = "enum|tuple|layouts", choices = { "data_parallel", "full_batch" }, default = "data_parallel",
        keys_of = old .. "dataset_strategy", replaces = old .. "dataset_strategy", per_process = false,
        sources = { cuts = { document = "documentation of 2.3.1, dataset slicing" }, layouts = { document = "description of Layout of 2.6" } },
        doc = "How a batch is cut for the devices: by word, by one list of cuts per input, or by one layout per input." },
      file("load_param_strategy_file", "File to read the sharding strategy of parameters from.", "strategy_ckpt_load_file"),
      file("save_param_strategy_file", "File to write the sharding strategy of parameters to.", "strategy_ckpt_save_file"),
      switch("disable_strategy_file_only_for_trainable_params", "Let these files hold parameters that are not trained, too.", "strategy_ckpt_config"),
      strategy_of_operators("load_operator_strategy_file", "JSON file to read the sharding strategy of operators from."),
      strategy_of_operators("save_operator_strategy_file", "JSON file to write the sharding strategy of operators to."),
      { "comm_fusion", kind = "dict", keys_of = old .. "comm_fusion", replaces = old .. "comm_fusion", per_process = false,
        rule = "AutoParallel takes any sub-key; set_auto_parallel_context, which gets them later, does not",
        doc = "How communication operators are fused into larger ones." },
      file("set_group_ckpt_save_file", "File to write the groups of devices to.", "group_ckpt_save_file"),
      switch("print_local_norm", "Print the norm of gradients before they are summed.", "dump_local_norm"),
      file("dump_local_norm", "Folder to write those norms to, instead of printing them; MindSpore does not make it.", "dump_local_norm_path"),
      switch("enable_device_local_norm", "Print the norm of each device's gradients.", "dump_device_local_norm"),
      switch("enable_gradients_mean", "Divide gradients by the number of devices after they are summed.", "gradients_mean"),
      switch("disable_gradient_fp32_sync", "Sum gradients in their own type instead of 32-bit floats.", "gradient_fp32_sync"),
      switch("disable_loss_repeated_mean", "Take no mean of a loss that devices compute repeatedly.", "loss_repeated_mean"),
      switch("enable_fp32_communication", "Reduce in 32-bit floats whatever the tensors are.", "force_fp32_communication"),
      { "transformer_opt", kind = "string", null = true, default = "", file = "parallel_speed_up", per_process = false,
        replaces = "set_context.ascend_config.parallel_speed_up_json_path",
        doc = "JSON file with switches that overlap computing and communication; \"\" for none." },
      switch("no_init_parameters_in_compile", "Initialise no parameters while the graph is compiled.", "init_param_in_compile"),
    } },
}
