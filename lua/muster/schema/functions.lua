-- The functions that replace set_context from 2.5 on: mindspore.set_device, mindspore.runtime.*, mindspore.device_context.*.
-- One record per function, named relative to the module mindspore.
--   parameters   its parameters in order, as the records of context.lua; `required` has no default
--   repeats      "free", "same" (again with equal values only) or "once"; a second call is RuntimeError in MindSpore
--   replaces     of a parameter: the attribute that it overrides if both are set
--   devices      elsewhere the call logs an error and does nothing
--   since        its first release; 2.5 if omitted
--   by_name      takes one table of names, never values by position (parallel.lua)
local uint32 = 4294967295
local records = {}

local function add(name, doc, parameters, more)
  local record = { name, doc = doc, since = "2.5", repeats = "once", parameters = parameters }
  if more then
    record.since, record.repeats = more.since or record.since, more.repeats or record.repeats
    record.devices = more.devices
  end
  records[#records + 1] = record
end

local function switch(name, doc, replaces) return { name, kind = "bool", required = true, replaces = replaces, doc = doc } end
local function count(name, doc, replaces)
  return { name, kind = "int", min = 1, max = uint32, required = true, replaces = replaces, doc = doc }
end
local function size(name, default, doc, replaces)
  return { name, kind = "size", above = 0, default = default, replaces = replaces, doc = doc }
end

add("set_device", "Choose the device to compute on.", {
  { "device_target", kind = "enum", choices = { "CPU", "GPU", "Ascend" }, required = true, per_process = false,
    replaces = "set_context.device_target", doc = "Kind of device that computes." },
  { "device_id", kind = "int", min = 0, max = uint32, default = 0, replaces = "set_context.device_id", doc = "Number of the device on its host." },
}, { repeats = "same" })
add("set_deterministic", "Let operators give the same result in every run.", {
  switch("deterministic", "Whether they do.", "set_context.deterministic") })
add("set_recursion_limit", "Limit how deeply functions of a network may call each other.", {
  { "recursion_limit", kind = "int", min = 1, default = 1000, doc = "The most nested calls." },
}, { repeats = "free" })

local reserve = size("huge_page_reserve_size", "0GB", "Memory that is reserved as huge pages.")
reserve.since, reserve.also = "2.6", { "0GB" }
add("runtime.set_memory", "Set how device memory is taken.", {
  size("init_size", "2GB", "Memory that is taken at the start."),
  size("increase_size", "2GB", "Size of the blocks that are taken afterwards.", "set_context.mempool_block_size"),
  size("max_size", "1024GB", "The most memory that is taken.", "set_context.max_device_memory"),
  { "optimize_level", kind = "enum", choices = { "O0", "O1" }, default = "O0", replaces = "set_context.memory_optimize_level",
    doc = "Prefer speed (O0) or little memory (O1)." },
  reserve,
})
add("runtime.dispatch_threads_num", "Set how many threads dispatch operators.", {
  count("threads_num", "Number of threads; 5 by default.", "set_context.inter_op_parallel_num") })
add("runtime.launch_blocking", "Launch every operator synchronously.", {}, { repeats = "free" })
add("runtime.set_cpu_affinity", "Bind the threads of a process to cores.", {
  switch("enable_affinity", "Whether threads are bound."),
  { "affinity_cpu_list", kind = "list_map", doc = "Ranges of cores by device: { device0 = { \"0-9\" } }.",
    changed = { ["2.7"] = { kind = "list_text|list_map", doc = "Ranges of cores, or these by device." } } },
  { "module_to_cpu_dict", kind = "list_map", min = 0, since = "2.7", doc = "Numbers of cores by module." },
})
add("runtime.set_kernel_launch_group", "Launch groups of kernels in parallel threads.", {
  { "thread_num", kind = "int", min = 1, default = 2, divides = "kernel_group_num",
    sources = { divides = { behaviour = "refuses it" } }, doc = "Number of threads." },
  { "kernel_group_num", kind = "int", min = 1, default = 8, doc = "Number of groups, a multiple of the threads." },
}, { since = "2.6" })

add("device_context.cpu.op_tuning.threads_num", "Set the threads that run CPU kernels.", {
  count("num", "Number of threads; 25 by default.", "set_context.runtime_num_threads") })

local ascend = { repeats = "same", devices = { "Ascend" } }
local function of_ascend(name, doc, parameters, more) add("device_context.ascend." .. name, doc, parameters, more or ascend) end
of_ascend("op_debug.execute_timeout", "Limit the time of one operator.", {
  { "op_timeout", kind = "int", min = 0, max = uint32, required = true, doc = "Seconds; 900 by default." } })
of_ascend("op_debug.debug_option", "Check operators while they run.", {
  { "option_value", kind = "enum", choices = { "oom" }, required = true, doc = "oom: check that they stay inside their memory." } })
of_ascend("op_debug.aclinit_config", "Set the configuration of the device's software.", {
  { "config", kind = "dict", required = true, doc = "The configuration.", keys = {
    { "max_opqueue_num", kind = "string", doc = "Length of the queue of operators." },
    { "err_msg_mode", kind = "enum", choices = { "0", "1" }, doc = "Report errors per process (\"0\") or thread (\"1\")." },
    { "dump", kind = "dict", doc = "What is written when an operator fails.", keys = {
      { "dump_scene", kind = "enum", choices = { "lite_exception", "lite_exception:disable" }, required = true, doc = "Write inputs and outputs, or nothing." },
    } },
  } },
}, { since = "2.6", repeats = "free" })
of_ascend("op_precision.precision_mode", "Set in which precision operators compute.", {
  { "mode", kind = "enum", required = true, doc = "The precision.",
    choices = { "force_fp16", "allow_fp32_to_fp16", "allow_mix_precision", "must_keep_origin_dtype", "force_fp32",
                "allow_fp32_to_bf16", "allow_mix_precision_fp16", "allow_mix_precision_bf16" } } })
of_ascend("op_precision.op_precision_mode", "Set the precision of single operators.", {
  { "path", kind = "path", required = true, doc = "File that names them; it must exist on the host." } })
of_ascend("op_precision.matmul_allow_hf32", "Let matrix products of 32-bit floats run in HF32.", { switch("value", "Whether they may.") })
of_ascend("op_precision.conv_allow_hf32", "Let convolutions of 32-bit floats run in HF32.", { switch("value", "Whether they may.") })
of_ascend("op_tuning.op_compile", "Compile operators while training instead of taking ready ones.", { switch("value", "Whether to compile them.") },
          { repeats = "once", devices = { "Ascend" } })
of_ascend("op_tuning.aoe_tune_mode", "Tune operators while training, or keep the graph for tuning it later.", {
  { "tune_mode", kind = "enum", choices = { "online", "offline" }, required = true, doc = "When to tune." } })
of_ascend("op_tuning.aoe_job_type", "Choose what is tuned.", {
  { "config", kind = "enum", choices = { "1", "2" }, required = true, doc = "Whole subgraphs (\"1\") or single operators (\"2\")." } })

local gpu = { repeats = "free" }
local function of_gpu(name, doc, parameter) add("device_context.gpu." .. name, doc, { parameter }, gpu) end
local function algorithm(words, rule)
  return { "mode", kind = "enum", choices = words, required = true, rule = rule, doc = "The algorithm." }
end
of_gpu("op_precision.matmul_allow_tf32", "Let matrix products use TF32 cores.", switch("value", "Whether they may."))
of_gpu("op_precision.conv_allow_tf32", "Let convolutions use TF32 cores.", switch("value", "Whether they may."))
of_gpu("op_tuning.conv_fprop_algo", "Choose the algorithm of convolutions.", algorithm({
  "normal", "performance", "implicit_gemm", "precomp_gemm", "gemm", "direct", "fft", "fft_tiling", "winograd", "winograd_nonfused" },
  "documents write implicit_precomp_gemm, which MindSpore refuses: it takes precomp_gemm"))
of_gpu("op_tuning.conv_dgrad_algo", "Choose the algorithm of the gradients of a convolution's input.", algorithm {
  "normal", "performance", "algo_0", "algo_1", "fft", "fft_tiling", "winograd", "winograd_nonfused" })
of_gpu("op_tuning.conv_wgrad_algo", "Choose the algorithm of the gradients of a convolution's weights.", algorithm {
  "normal", "performance", "algo_0", "algo_1", "algo_3", "fft", "fft_tiling", "winograd_nonfused" })

return records
