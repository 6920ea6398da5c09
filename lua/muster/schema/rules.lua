-- Rules between settings: sentences of the documents, and what MindSpore itself refuses. One record per rule, checked
-- once the job is known; include/muster/mindspore/schema.h (Rule) documents the fields. Rules about one attribute and
-- one mode are in the attribute's record (`modes`, `pynative`, `divides` …); those that count processes are functions
-- of src/settings/check/job_check.cc.
--   about             the setting at which it is reported; a function alone: the first setting made with it
--   when, unless      by path: a value, or { one_of, none_of, above, above_value_of, set }
--   refused           MindSpore fails, so it is an error; else a warning
--   source            document: where it is documented; behaviour: what MindSpore does
local parallel, plain, ps = "set_auto_parallel_context.", "set_context.", "set_ps_context."
local auto = "parallel."  -- AutoParallel
local mode, target = parallel .. "parallel_mode", plain .. "device_target"
local optimizer = parallel .. "enable_parallel_optimizer"

local rules = {
  -- Many devices
  { "stand_alone_with_device_num", kind = "parallel_mode", refused = true, about = parallel .. "device_num",
    when = { [mode] = "stand_alone", [parallel .. "device_num"] = { set = true, above = 1 } },
    unless = { [ps .. "enable_ps"] = true },
    says = "{device_num} with {parallel_mode}: every worker would train alone",
    hint = 'set parallel_mode, for example to "data_parallel"',
    source = { document = "API page of 0.3", behaviour = "fails when a model is built" } },
  { "stand_alone_with_workers", kind = "parallel_mode", about = mode,
    when = { [mode] = "stand_alone", [parallel .. "device_num"] = { set = false }, ["job.workers"] = { above = 1 } },
    unless = { [ps .. "enable_ps"] = true },
    says = "{parallel_mode} with {workers} workers: every worker would train alone",
    hint = 'set parallel_mode, for example to "data_parallel"', source = { document = "API page of 0.3" } },
  { "parallel_on_cpu", kind = "wrong_device", about = "set_auto_parallel_context", since = "1.6", ["until"] = "1.6",
    when = { [target] = "CPU" },
    says = "set_auto_parallel_context is for Ascend and GPU in {release}: on CPU its settings have no " ..
      "documented effect",
    source = { document = "API page of 1.6" } },
  { "parallel_mode_on_cpu", kind = "wrong_device", about = mode, since = "1.9",
    when = { [target] = "CPU", [mode] = { none_of = { "stand_alone", "data_parallel" } } },
    says = "{parallel_mode} is for Ascend and GPU in {release}: on CPU only data_parallel is documented",
    source = { document = "descriptions of 1.9" } },
  { "auto_parallel_in_pynative", kind = "mode_conflict", about = mode, since = "1.9",
    when = { [mode] = "auto_parallel", [plain .. "mode"] = 1 },
    says = "{parallel_mode} is taken in PYNATIVE_MODE by {release}, whose documents allow stand_alone and " ..
      "data_parallel only",
    hint = "set mode = context.GRAPH_MODE", source = { document = "descriptions of 1.9", behaviour = "takes it" } },
  { "whole_batches", kind = "mode_conflict", refused = true, about = parallel .. "dataset_strategy", since = "1.6",
    when = { [parallel .. "dataset_strategy"] = "full_batch",
             [mode] = { none_of = { "semi_auto_parallel", "auto_parallel" } } },
    says = "{dataset_strategy} does not go with {parallel_mode} in {release}",
    hint = 'it is for parallel_mode "semi_auto_parallel" or "auto_parallel"',
    source = { document = "API page of 1.6", behaviour = "fails when a graph is compiled" } },
  { "stages_by_dynamic_programming", kind = "mode_conflict", refused = true, about = parallel .. "pipeline_stages",
    since = "2.3.0-rc2",
    when = { [parallel .. "pipeline_stages"] = { above = 1 },
             [mode] = "auto_parallel", [parallel .. "search_mode"] = "dynamic_programming" },
    says = "{pipeline_stages} in auto_parallel does not go with {search_mode} in {release}",
    hint = 'use search_mode "recursive_programming" or "sharding_propagation"',
    source = { behaviour = "fails when a graph is compiled" } },

  -- The parallel optimizer
  { "parallel_optimizer_mode_of_10", kind = "mode_conflict", about = optimizer, since = "1.0", ["until"] = "1.0",
    when = { [optimizer] = true, [mode] = { none_of = { "data_parallel" } } },
    says = "{enable_parallel_optimizer} has no documented effect with {parallel_mode} in {release}",
    hint = 'it is for parallel_mode "data_parallel"', source = { document = "programming guide of 1.0" } },
  { "parallel_optimizer_optimizers_of_10", kind = "optimizer", about = optimizer, since = "1.0", ["until"] = "1.0",
    when = { [optimizer] = true, [mode] = "data_parallel" },
    says = "{enable_parallel_optimizer} supports the optimizers Lamb and Adam only in {release}",
    hint = "see that the program trains with one of them", source = { document = "programming guide of 1.0" } },
  { "parallel_optimizer_mode", kind = "mode_conflict", about = optimizer, since = "1.6",
    when = { [optimizer] = true, [mode] = { one_of = { "stand_alone", "hybrid_parallel" } } },
    says = "{enable_parallel_optimizer} has no documented effect with {parallel_mode} in {release}",
    hint = 'it is for parallel_mode "data_parallel", "semi_auto_parallel" or "auto_parallel"',
    source = { document = "API page of 1.6" } },
  { "parallel_optimizer_device", kind = "wrong_device", about = optimizer, since = "1.6",
    when = { [optimizer] = true, [mode] = "data_parallel", [target] = { none_of = { "Ascend" } } },
    says = "{enable_parallel_optimizer} with {parallel_mode} is for Ascend in {release}, not for {device_target}",
    hint = 'on a GPU it is for parallel_mode "semi_auto_parallel" and "auto_parallel"',
    source = { document = "API page of 1.6" } },
  { "parallel_optimizer_optimizers", kind = "optimizer", about = optimizer, since = "1.6",
    when = { [optimizer] = true, [mode] = "data_parallel" }, unless = { [target] = { none_of = { "Ascend" } } },
    says = "{enable_parallel_optimizer} with {parallel_mode} supports the optimizers Lamb and AdamWeightDecay " ..
      "only in {release}",
    hint = 'see that the program trains with one of them; "semi_auto_parallel" and "auto_parallel" support all',
    source = { document = "API page of 1.6" } },
  { "parallel_optimizer_switch", kind = "no_effect", about = parallel .. "parallel_optimizer_config", since = "1.6",
    when = { [parallel .. "parallel_optimizer_config"] = { set = true }, [optimizer] = false },
    says = "parallel_optimizer_config has no effect in {release} without enable_parallel_optimizer = true",
    hint = "set enable_parallel_optimizer = true, or leave parallel_optimizer_config out",
    source = { document = "API page of 1.6" } },
  { "optimizer_shards", kind = "range", refused = true, about = parallel .. "parallel_optimizer_config",
    since = "2.3.0-rc2",
    when = { [parallel .. "parallel_optimizer_config.optimizer_weight_shard_size"] =
               { above_value_of = parallel .. "device_num" },
             [optimizer] = true },
    says = "{parallel_optimizer_config.optimizer_weight_shard_size} is above {device_num}",
    source = { document = "descriptions of 2.3", behaviour = "fails when a graph is compiled" } },
  { "optimizer_shards_by_attribute", kind = "range", refused = true, about = parallel .. "optimizer_weight_shard_size",
    since = "2.3.0-rc2",
    when = { [parallel .. "optimizer_weight_shard_size"] = { above_value_of = parallel .. "device_num" }, [optimizer] = true },
    says = "{optimizer_weight_shard_size} is above {device_num}",
    source = { document = "descriptions of 2.3", behaviour = "fails when a graph is compiled" } },

  { "optimizer_level_with_shard", kind = "conflict", refused = true, about = parallel .. "parallel_optimizer_config", since = "2.6",
    when = { [parallel .. "parallel_optimizer_config.gradient_accumulation_shard"] = { set = true },
             [parallel .. "parallel_optimizer_config.optimizer_level"] = { one_of = { "level1", "level3" } } },
    says = "{parallel_optimizer_config.gradient_accumulation_shard} beside " ..
      "{parallel_optimizer_config.optimizer_level} is refused by {release}, even if it is false",
    hint = 'leave gradient_accumulation_shard out, or use optimizer_level = "level2"',
    source = { behaviour = "refuses such a table" } },

  -- Compiling and memory
  { "compile_cache_of_servers", kind = "conflict", about = plain .. "enable_compile_cache",
    since = "1.6", ["until"] = "1.6",
    when = { [plain .. "enable_compile_cache"] = true, [ps .. "enable_ps"] = true },
    says = "{enable_compile_cache} is not supported in parameter-server mode by {release}",
    hint = "leave one of the two out", source = { document = "API page of 1.6" } },
  { "offload_by_jit_level", kind = "no_effect", about = plain .. "memory_offload", since = "2.3.0",
    when = { [plain .. "memory_offload"] = "ON",
             [target] = "Ascend", [plain .. "jit_config.jit_level"] = { one_of = { "O1", "O2" } } },
    says = "{memory_offload} has no effect on Ascend in {release} with {jit_config.jit_level}",
    hint = 'it works with jit_level "O0"', source = { document = "page of set_context of 2.3.1" } },
  { "offload_by_memory_level", kind = "no_effect", about = plain .. "memory_offload", since = "2.3.0-rc2",
    when = { [plain .. "memory_offload"] = "ON", [plain .. "memory_optimize_level"] = "O1" },
    says = "{memory_offload} has no effect in {release} with {memory_optimize_level}",
    hint = 'set memory_optimize_level = "O0"', source = { document = "page of set_context of 2.3.0-rc2" } },
  { "inference_by_jit_level", kind = "conflict", refused = true, about = plain .. "jit_config", since = "2.3.0",
    when = { [plain .. "jit_config.infer_boost"] = "on",
             [plain .. "jit_config.jit_level"] = { one_of = { "O1", "O2" } } },
    says = "jit_config, as several calls gave it, has {jit_config.infer_boost} beside {jit_config.jit_level}, " ..
      "which {release} refuses",
    hint = 'infer_boost goes with jit_level = "O0" only', source = { behaviour = "refuses such a table" } },
  { "fusion_switched_off", kind = "conflict", about = plain .. "graph_kernel_flags", since = "1.6",
    when = { [plain .. "graph_kernel_flags.opt_level"] = "0", [plain .. "enable_graph_kernel"] = true },
    says = "{graph_kernel_flags.opt_level} switches the fusion off although {enable_graph_kernel}: in {release} " ..
      "the flags win",
    hint = "leave one of the two out", source = { document = "API page of 1.6" } },
  { "fusion_switched_on", kind = "conflict", about = plain .. "graph_kernel_flags", since = "1.6",
    when = { [plain .. "graph_kernel_flags.opt_level"] = { one_of = { "1", "2", "3" } },
             [plain .. "enable_graph_kernel"] = { set = true, one_of = { false } } },
    says = "{graph_kernel_flags.opt_level} switches the fusion on although {enable_graph_kernel}: in {release} " ..
      "the flags win",
    hint = "leave one of the two out", source = { document = "API page of 1.6" } },

  -- Requirements of a process on its host
  { "deep_calls", kind = "stack", about = plain .. "max_call_depth", since = "1.0",
    when = { [plain .. "max_call_depth"] = { above = 1000 } },
    says = "{max_call_depth} needs a deeper stack than the default of 1000: without one {release} may end with " ..
      "a core dump",
    hint = "raise the stack limit of the processes with it (ulimit -s)", source = { document = "API page of 1.6" } },
  { "threads_of_many", kind = "threads", about = plain .. "runtime_num_threads", since = "1.9",
    when = { [plain .. "runtime_num_threads"] = { above = 29 }, ["job.processes_on_a_host"] = { above = 1 } },
    says = "{runtime_num_threads} in each of {processes_on_a_host} processes of one host makes " ..
      "{runtime_num_threads × processes_on_a_host} threads that contend in {release}",
    hint = "set fewer than the default of 30 where several processes share a host",
    source = { document = "page of set_context of 2.3.0-rc2" } },

  -- AutoParallel
  { "parallel_on_other_devices", kind = "wrong_device", about = auto .. "mode", since = "2.6",
    when = { [auto .. "mode"] = { set = true }, [target] = { none_of = { "Ascend" } } },
    says = "parallel is for Ascend in {release}, not for {device_target}",
    hint = "leave parallel out, or set the device to Ascend", source = { document = "description of AutoParallel of 2.6" } },
  { "parallel_in_pynative", kind = "mode_conflict", about = auto .. "mode", since = "2.6",
    when = { [auto .. "mode"] = { set = true }, [plain .. "mode"] = 1 },
    says = "parallel is for graphs in {release}, and set_context has {set_context.mode}",
    hint = "set mode = mindspore.GRAPH_MODE", source = { document = "description of AutoParallel of 2.6" } },
  { "parallel_shards", kind = "range", refused = true, about = auto .. "hsdp", since = "2.6",
    when = { [auto .. "hsdp.shard_size"] = { above_value_of = "job.workers" }, ["job.workers"] = { above = 0 } },
    says = "{hsdp.shard_size} is above the number of workers, {workers}",
    source = { document = "description of AutoParallel of 2.6", behaviour = "fails when a graph is compiled" } },
}

-- What has no effect beside AutoParallel, or needs one of its modes.
local function counted_by_group(name)
  rules[#rules + 1] = { name .. "_beside_parallel", kind = "no_effect", about = parallel .. name, since = "2.6",
    when = { [parallel .. name] = { set = true }, [auto .. "mode"] = { set = true } },
    says = name .. " has no effect beside parallel: AutoParallel of {release} reads it from the group of processes",
    hint = "leave " .. name .. " out", source = { behaviour = "reads it from the group when a network is wrapped" } }
end
counted_by_group "device_num"
counted_by_group "global_rank"
local function of_propagation(name)
  rules[#rules + 1] = { name .. "_mode", kind = "no_effect", about = auto .. name, since = "2.6",
    when = { [auto .. name] = { set = true }, [auto .. "mode"] = { none_of = { "sharding_propagation" } } },
    says = name .. " has no effect in {release} with {" .. auto .. "mode}",
    hint = 'it is for mode = "sharding_propagation"', source = { document = "description of AutoParallel of 2.6" } }
end
of_propagation "load_operator_strategy_file"
of_propagation "save_operator_strategy_file"

-- Encryption: a certificate's key needs its password, and a password needs the encryption.
local function encryption(side)
  local password = ps .. side .. "_password"
  rules[#rules + 1] = { "ssl_without_" .. side .. "_password", kind = "ssl", about = ps .. "enable_ssl", since = "1.6",
    when = { [ps .. "enable_ssl"] = true, [password] = { set = false } },
    says = "{enable_ssl} without " .. side .. "_password: {release} reads the " .. side .. " certificate's key with it",
    hint = "set " .. side .. "_password from a parameter of type secret", source = { document = "API page of 1.6" } }
  rules[#rules + 1] = { side .. "_password_without_ssl", kind = "no_effect", about = password, since = "1.6",
    when = { [password] = { set = true }, [ps .. "enable_ssl"] = false },
    says = side .. "_password has no effect in {release} without enable_ssl = true",
    hint = "set enable_ssl = true, or leave the password out", source = { document = "API page of 1.6" } }
end
encryption "client"
encryption "server"

-- Settings that ge_options contain as well take precedence, under the device software's name or the sub-key's own.
local function overruled(sub_key, part, name, since, last)
  local own, option = plain .. "ascend_config." .. sub_key, plain .. "ascend_config.ge_options." .. part .. "." .. name
  rules[#rules + 1] = { sub_key .. "_by_ge_options_" .. part .. "_" .. name, kind = "conflict",
    about = plain .. "ascend_config", since = since, ["until"] = last,
    when = { [own] = { set = true }, [option] = { set = true } },
    says = "{" .. own .. "} is overruled by {" .. option .. "} in {release}",
    hint = "leave one of the two out", source = { document = "page of set_context of 2.3.0-rc2" } }
end
local names_in_ge = {
  { "atomic_clean_policy", "ge.exec.atomicCleanPolicy" }, { "conv_allow_hf32", "ge.exec.allow_hf32" },
  { "exception_dump", "ge.exec.enable_exception_dump", ["until"] = "2.5" },
  { "host_scheduling_max_threshold", "ge.exec.hostSchedulingMaxThreshold" },
  { "jit_compile", "ge.jit_compile" }, { "matmul_allow_hf32", "ge.exec.allow_hf32" }, { "op_debug_option",
    since = "2.3.0" },
  { "op_precision_mode", "ge.exec.op_precision_mode" }, { "precision_mode", "ge.exec.precision_mode" },
  { "topo_order", "ge.topoSortingMode" },
}
for i = 1, #names_in_ge do
  local names = names_in_ge[i]
  for j = 1, #names do
    overruled(names[1], "global", names[j], names.since or "2.3.0-rc2", names["until"])
    overruled(names[1], "session", names[j], names.since or "2.3.0-rc2", names["until"])
  end
end

return rules
