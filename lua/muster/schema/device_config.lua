-- Attributes of set_context that are tables, from 2.3 on: settings for one kind of device or for the compiler. See
-- context.lua. A documented default that MindSpore leaves to the device's software is "" here, as MindSpore returns it:
-- a documented default must never be written into a launch.

-- The function that replaces a sub-key from 2.5 on; the whole table's deprecation warning names it.
local function moved(name, device)
  return { ["2.5"] = { moved = { "device_context." .. (device or "ascend") .. "." .. name } } }
end

local function switch(name, documented, doc, successor)
  return { name, kind = "bool", default = "", reads = "text", own_name = true, changed = moved(successor),
           rule = documented .. "; reads \"\" until it is set and takes 0 and 1 as well", doc = doc }
end

local function step_counter(name, doc)
  return { name, kind = "int", default = 0, own_name = true, undocumented = true, since = "2.3.0", doc = doc }
end

local unwarned = "documented as deprecated; MindSpore gives no warning"

return {
  { "aoe_config", kind = "dict", default = {}, reads = "never", devices = { "Ascend" }, since = "2.3.0-rc2", group = "execution",
    rule = "documented for Ascend, taken everywhere", doc = "Options of the tuning that aoe_tune_mode switches on.",
    keys = {
      { "job_type", kind = "enum", choices = { "1", "2" }, default = "2", same_as = "aoe_job_type", doc = "Tune whole subgraphs (\"1\") or single operators (\"2\").",
        changed = moved("op_tuning.aoe_job_type") },
    },
    changed = { ["2.3.0"] = { reads = "as_stored" },
                ["2.5"] = { deprecated = "mindspore.device_context.ascend.op_tuning.aoe_job_type()" } } },
  { "ascend_config", kind = "dict", default = {}, reads = "never", adds_up = true, devices = { "Ascend" }, enforced = { "Ascend" },
    since = "2.3.0-rc2", group = "execution", rule = "reads the table of the last call; what earlier calls gave stays in force",
    doc = "Options that only Ascend devices understand.",
    keys = {
      { "precision_mode", kind = "enum", default = "", own_name = true, doc = "In which precision operators compute.",
        choices = { "force_fp16", "allow_fp32_to_fp16", "allow_mix_precision", "must_keep_origin_dtype", "force_fp32",
                    "allow_fp32_to_bf16", "allow_mix_precision_fp16", "allow_mix_precision_bf16" },
        rule = "documented as force_fp16 for inference, reads \"\" until it is set", changed = moved("op_precision.precision_mode") },
      switch("jit_compile", "documented as depending on shapes", "Compile operators while training instead of taking ready ones.",
             "op_tuning.op_compile"),
      { "atomic_clean_policy", kind = "int", choices = { 0, 1 }, default = "", reads = "text", own_name = true,
        rule = "documented as 1, reads \"\" until it is set",
        doc = "Clear the memory of atomic operators together (0) or one by one (1)." },
      switch("matmul_allow_hf32", "documented as false", "Let matrix products of 32-bit floats run in HF32.",
             "op_precision.matmul_allow_hf32"),
      switch("conv_allow_hf32", "documented as true", "Let convolutions of 32-bit floats run in HF32.",
             "op_precision.conv_allow_hf32"),
      { "exception_dump", kind = "enum", choices = { "0", "1", "2" }, default = "2", own_name = true, ["until"] = "2.5",
        successor = "mindspore.device_context.ascend.op_debug.aclinit_config() with dump",
        doc = "Of an operator that failed keep nothing (\"0\"), inputs and outputs (\"1\") or inputs (\"2\")." },
      { "op_precision_mode", kind = "string", default = "", own_name = true, doc = "File with the precision of single operators.",
        changed = moved("op_precision.op_precision_mode") },
      { "op_debug_option", kind = "enum", choices = { "oom" }, default = "", own_name = true, since = "2.3.0",
        doc = "Check that operators stay inside their memory.", changed = moved("op_debug.debug_option") },
      { "ge_options", kind = "dict", default = "", reads = "json", own_name = true,
        rule = "documented as stronger than the same option in ascend_config",
        doc = "Options for the device's software itself.", keys = {
          { "global", kind = "text_map", doc = "Options for the whole process." },
          { "session", kind = "text_map", doc = "Options for one session." },
        } },
      { "parallel_speed_up_json_path", kind = "string", null = true, default = "", file = "parallel_speed_up",
        rule = "documented as taking None for none, MindSpore refuses that: null is passed on as left out",
        doc = "JSON file with switches that overlap computing and communication.",
        changed = { ["2.6"] = { successor = "AutoParallel.transformer_opt()" } } },
      { "host_scheduling_max_threshold", kind = "int", default = "", reads = "text", own_name = true,
        rule = "documented as 0, reads \"\" until it is set",
        doc = "Graphs with fewer nodes than this are scheduled by the host." },
      { "topo_order", kind = "text_map", choices = { "dfs", "bfs", "rdfs" }, default = "", reads = "json", own_name = true, undocumented = true,
        doc = "Order of the nodes of graphs, by name of the graph." },
      step_counter("cur_step_num", "Step that the framework is at."),
      step_counter("save_checkpoint_steps", "Steps between two checkpoints."),
      step_counter("last_triggered_step", "Step of the last checkpoint."),
      { "need_ckpt", kind = "bool", default = false, own_name = true, undocumented = true, since = "2.3.0", doc = "Whether a checkpoint is due." },
      { "hccl_watchdog", kind = "bool", default = true, own_name = true, since = "2.4", doc = "Watch over communication and end the process when it hangs." },
    },
    changed = {
      ["2.3.0"] = { reads = "as_stored" },
      ["2.5"] = { deprecated = "mindspore.device_context.ascend.op_precision, op_tuning and op_debug" },
    } },
  { "gpu_config", kind = "dict", default = {}, reads = "never", adds_up = true, devices = { "GPU" }, enforced = { "GPU" },
    since = "2.3.0-rc2", group = "execution", doc = "Options that only GPUs understand.",
    keys = {
      { "conv_fprop_algo", kind = "enum", default = "normal", own_name = true,
        choices = { "normal", "performance", "implicit_gemm", "precomp_gemm", "gemm", "direct", "fft", "fft_tiling", "winograd", "winograd_nonfused" },
        rule = "documents write implicit_precomp_gemm, which MindSpore refuses: it takes precomp_gemm",
        doc = "Algorithm of convolutions.", changed = moved("op_tuning.conv_fprop_algo", "gpu") },
      { "conv_dgrad_algo", kind = "enum", default = "normal", own_name = true,
        choices = { "normal", "performance", "algo_0", "algo_1", "fft", "fft_tiling", "winograd", "winograd_nonfused" },
        doc = "Algorithm of the gradients of a convolution's input.", changed = moved("op_tuning.conv_dgrad_algo", "gpu") },
      { "conv_wgrad_algo", kind = "enum", default = "normal", own_name = true,
        choices = { "normal", "performance", "algo_0", "algo_1", "algo_3", "fft", "fft_tiling", "winograd_nonfused" },
        doc = "Algorithm of the gradients of a convolution's weights.", changed = moved("op_tuning.conv_wgrad_algo", "gpu") },
      { "conv_allow_tf32", kind = "bool", default = true, own_name = true, doc = "Let convolutions use TF32 cores.",
        changed = moved("op_precision.conv_allow_tf32", "gpu") },
      { "matmul_allow_tf32", kind = "bool", default = false, own_name = true, doc = "Let matrix products use TF32 cores.",
        changed = moved("op_precision.matmul_allow_tf32", "gpu") },
    },
    changed = {
      ["2.3.0"] = { reads = "as_stored" },
      ["2.5"] = { deprecated = "mindspore.device_context.gpu.op_precision and op_tuning" },
    } },
  { "jit_config", kind = "dict", default = {}, adds_up = true, since = "2.3.0", group = "execution",
    doc = "How graphs are compiled, where a network does not say it itself.",
    keys = {
      { "jit_level", kind = "enum", choices = { "O0", "O1", "O2" }, default = "", own_name = true,
        doc = "How much to optimize; left out, the framework chooses by device." },
      { "infer_boost", kind = "enum", choices = { "on", "off" }, default = "off", own_name = true,
        needs = { on = { jit_level = "O0" } }, rule = "2.3 fails without jit_level beside it, 2.4 only with O1 and O2",
        sources = { needs = { behaviour = "fails without it, and with O1 and O2" } }, doc = "Speed up inference.",
        changed = { ["2.4"] = { needs = {}, fits = { on = { jit_level = "O0" } }, sources = { fits = { behaviour = "refuses O1 and O2" } } } } },
    },
    changed = { ["2.6"] = { successor = "jit_level and infer_boost of mindspore.jit", rule = unwarned } } },
}
