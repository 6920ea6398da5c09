-- Attributes of set_context that the newest documents no longer list; see context.lua. Some are withdrawn (accepted and
-- ignored), some are still stored without being documented, some were removed.
return {
  { "enable_profiling", kind = "bool", default = false, group = "debug", area = "maintenance",
    doc = "Switch the profiler on.",
    changed = {
      ["1.0"] = { enforced = { "Ascend" } },
      ["1.6"] = { devices = { "Ascend" }, withdrawn = "mindspore.profiler.Profiler", doc = "Once switched the profiler on." },
      ["1.9"] = { withdrawn = false, undocumented = true, devices = {}, enforced = {} },
    } },
  { "profiling_options", kind = "enum", default = "training_trace", group = "debug", area = "maintenance",
    choices = { "training_trace", "task_trace", "training_trace:task_trace", "task_trace:training_trace", "op_trace" },
    rule = "shown as a list and as JSON text in documents; 0.3 and 1.0 take five texts",
    doc = "What the profiler records.",
    changed = {
      ["1.6"] = { kind = "string", choices = {}, devices = { "Ascend" }, enforced = { "Ascend" }, withdrawn = "mindspore.profiler.Profiler", rule = "",
                  doc = "Once chose what the profiler records." },
      ["1.9"] = { withdrawn = false, undocumented = true, devices = {}, enforced = {} },
    } },
  { "enable_options", kind = "any", since = "1.0", ["until"] = "1.0", documented_only = true, successor = "profiling_options",
    group = "debug", area = "maintenance", rule = "the guide of 1.0 names it, MindSpore has no such attribute",
    doc = "A slip of the guide for profiling_options." },
  { "enable_auto_mixed_precision", kind = "bool", default = false, group = "execution",
    rule = "0.3 documents true", doc = "Compute in half precision where that is safe.",
    changed = {
      ["1.0"] = { enforced = { "Ascend" }, rule = "" },
      ["1.6"] = { withdrawn = true, undocumented = true, reads = "never", enforced = {},
                  doc = "Once let networks compute in half precision." },
    } },
  { "auto_tune_mode", kind = "enum", choices = { "NO_TUNE", "RL", "GA", "RL,GA", "GA,RL" }, default = "NO_TUNE", reads = "never",
    devices = { "Ascend" }, enforced = { "Ascend" }, since = "1.6", group = "execution", shares = "tune_mode",
    sources = { shares = { behaviour = "keeps one value under both names" } },
    rule = "documented as RL, GA and RL,GA; can be set but not read", doc = "How operators are tuned while they are built.",
    changed = {
      ["2.3.0-rc2"] = { kind = "any", choices = {}, reads = "default", withdrawn = "aoe_tune_mode", undocumented = true, devices = {},
                        enforced = {}, shares = "", sources = {}, rule = "", doc = "Once chose how operators are tuned." },
      ["2.4"] = { reads = "never" },
    } },
  { "save_ms_model", kind = "bool", default = false, ["until"] = "0.3", group = "debug",
    doc = "Keep the model that was converted for devices with little memory." },
  { "save_ms_model_path", kind = "string", default = "./model.ms", ["until"] = "0.3", group = "debug",
    rule = "documented as \".\"", doc = "File for that model." },
}
