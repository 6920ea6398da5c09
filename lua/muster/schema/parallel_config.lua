-- Attributes of set_auto_parallel_context that are tables; see auto_parallel.lua.
local function fusion(name, modes, since)
  local keys = {
    { "mode", kind = "enum", choices = modes, required = true, doc = "By a fixed size, by a given size, or by parameter index." },
    { "config", kind = "any", null = true, when = { mode = "auto" }, required = true, default = 64, reads = "default",
      doc = "Ignored; 64 MB are fused.", changed = { ["2.3.0-rc2"] = { reads = "as_stored" } } },
    { "config", kind = "int", min = 0, when = { mode = "size" }, required = true,
      rule = "documented as above 0; 0 is taken and fuses nothing", doc = "MB that are fused; 0 fuses nothing." },
  }
  if #modes == 3 then
    keys[4] = { "config", kind = "list_int", min = 0, max = 4294967295, ascending = true, not_empty = true, when = { mode = "index" },
                required = true, doc = "Indices of parameters, as in all_reduce_fusion_config." }
  end
  return { name, kind = "dict", since = since, keys = keys, doc = "Fusion of " .. name .. " operators." }
end

-- Pipeline schedulers that require pipeline_interleave = true.
local function interleaved(schedulers)
  local needs = {}
  for i = 1, #schedulers do needs[schedulers[i]] = { pipeline_interleave = true } end
  return needs
end

return {
  { "parallel_optimizer_config", kind = "dict", not_empty = true, reads = "never", adds_up = true, per_process = false,
    group = "common", since = "1.6", doc = "Details of enable_parallel_optimizer.",
    keys = {
      { "gradient_accumulation_shard", kind = "bool", default = true, doc = "Also cut the accumulated gradients among devices.",
        changed = { ["2.3.0-rc2"] = { default = false } } },
      { "parallel_optimizer_threshold", kind = "int", min = 0, default = 64, since = "1.9", doc = "Parameters below this many KB are not cut." },
      { "optimizer_weight_shard_size", kind = "int", min = 1, no_effect_up_to = 1, default = -1, since = "2.3.0-rc2",
        sources = { shards = { document = "descriptions of 2.3", behaviour = "lets a size that does not divide them have no effect" } },
        doc = "Devices that share one copy of the optimizer's weights.",
        changed = { ["2.6"] = { also = { -1 }, doc = "Devices that share one copy of the optimizer's weights; -1: all." } } },
      { "optimizer_level", kind = "enum", choices = { "level1", "level2", "level3" }, default_text = "not documented", since = "2.6", undocumented = true,
        doc = "What is cut among devices: weights and states (1), gradients as well (2), parameters as well (3)." },
    },
    changed = { ["1.9"] = { not_empty = false } } },
  { "comm_fusion", kind = "dict", default = { allreduce = { mode = "auto", config = 64 } }, adds_up = true, per_process = false,
    read_keys = { "allreduce" },
    group = "auto_parallel", since = "1.6", doc = "How communication operators are fused into larger ones.",
    keys = {
      fusion("allreduce", { "auto", "size", "index" }),
      fusion("allgather", { "auto", "size" }, "1.9"),
      fusion("reducescatter", { "auto", "size" }, "1.9"),
      { "openstate", kind = "bool", default = true, since = "2.3.0-rc2", doc = "false switches fusion off, whatever stands beside it." },
    },
    changed = {
      ["1.9"] = { rule = "reads back allreduce only" },
      ["2.3.0-rc2"] = { read_keys = { "openstate", "allreduce", "allgather", "reducescatter" }, rule = "",
        default = { openstate = true, allreduce = { mode = "auto" }, allgather = { mode = "auto" }, reducescatter = { mode = "auto" } } },
    } },
  { "pipeline_config", kind = "dict", reads = "never", per_process = false, group = "auto_parallel", since = "2.3.0-rc2",
    doc = "How the stages of a pipeline work together.",
    keys = {
      { "pipeline_interleave", kind = "bool", default = false, required = true, own_name = true, doc = "Let stages take turns with parts of a batch." },
      { "pipeline_scheduler", kind = "enum", choices = { "1f1b", "gpipe" }, default = "1f1b", required = true, own_name = true,
        needs = { gpipe = { pipeline_interleave = true } },
        sources = { needs = { document = "descriptions of 2.3", behaviour = "refuses it" } }, doc = "Order of forward and backward steps.",
        changed = {
          ["2.5"] = { choices = { "1f1b", "gpipe", "seqpipe" }, needs = interleaved { "gpipe", "seqpipe" } },
          ["2.6"] = { choices = { "1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp" },
                      needs = interleaved { "gpipe", "seqpipe", "seqvpp", "seqsmartvpp" } },
        } },
    } },
  { "strategy_ckpt_config", kind = "dict", adds_up = true, group = "auto_parallel", since = "2.3.0-rc2",
    default = { load_file = "", save_file = "", only_trainable_params = true }, read_keys = { "load_file", "save_file", "only_trainable_params" },
    doc = "Files of the sharding strategy, and what they hold.",
    keys = {
      { "load_file", kind = "string", default = "", same_as = "strategy_ckpt_load_file", doc = "File to read the sharding strategy from." },
      { "save_file", kind = "string", default = "", same_as = "strategy_ckpt_save_file", doc = "File to write the sharding strategy to." },
      { "only_trainable_params", kind = "bool", default = true, doc = "Only of parameters that are trained." },
    } },
}
