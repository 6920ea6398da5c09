-- Attributes of set_context that no document names and MindSpore accepts nevertheless: parameters of its native
-- context, which set_context passes on by name with no check except their type (context.py, "if key in
-- ms_ctx_param.__members__"), and one of its Python class. See context.lua. Settings that no document lists under their
-- own name, such as the switches in files.lua, are in the records that document them.
local start = { bool = false, int = 0, string = "" }

-- Such a parameter. Its default is what the native context starts with, which no document names.
local function native(record)
  record.undocumented, record.group = true, "execution"
  if record.default == nil then record.default = start[record.kind] end
  return record
end

local rc2, final = "2.3.0-rc2", "2.3.0"
local records = {
  { "enable_debug_runtime", kind = "any", undocumented = true, group = "execution", default_text = "not documented",
    doc = "Whether the backend follows the mode: \"vm\" in PYNATIVE_MODE, \"ge\" in GRAPH_MODE." },
  { "backend_policy", kind = "enum", choices = { "ge", "vm", "ms" }, since = "1.0", ["until"] = "1.0", undocumented = true,
    group = "execution", default_text = "not documented", doc = "Which backend runs graphs." },
  native { "enable_parallel_split", kind = "bool", since = "1.6", doc = "Cut graphs so that their parts run side by side." },
  native { "tune_mode", kind = "string", since = "1.6", ["until"] = "1.9", default = "NO_TUNE", shares = "auto_tune_mode",
           successor = "auto_tune_mode", sources = { shares = { behaviour = "keeps one value under both names" } },
           doc = "What auto_tune_mode stores, under the name by which it can be read." },
  native { "aoe_job_type", kind = "string", since = rc2, default = "2", same_as = "aoe_config.job_type", successor = "aoe_config",
           doc = "What aoe_config stores as job_type." },
  native { "enable_fused_cast_add_opt", kind = "bool", since = final, doc = "Fuse casts with the additions after them." },
}

-- Switches that are documented as keys of the file named by parallel_speed_up_json_path.
local function of_speed_up(name, kind, since)
  records[#records + 1] = native { name, kind = kind, since = since, successor = "ascend_config.parallel_speed_up_json_path",
                                   doc = "The key of that name in the file of parallel_speed_up_json_path." }
end
local switches = { "recompute_comm_overlap", "matmul_grad_comm_overlap", "enable_task_opt", "enable_grad_comm_opt",
                   "enable_opt_shard_comm_opt", "interleaved_matmul_comm", "interleaved_layernorm_comm", "bias_add_comm_swap",
                   "enable_begin_end_inline_opt", "enable_concat_eliminate_opt", "enable_flash_attention_load_balance" }
local overlap = #records + 1  -- recompute_comm_overlap
for i = 1, #switches do of_speed_up(switches[i], "bool", rc2) end
of_speed_up("compute_communicate_fusion_level", "int", rc2)
of_speed_up("recompute_allgather_overlap_fagrad", "bool", final)
of_speed_up("dataset_broadcast_opt_level", "int", "2.4")
of_speed_up("enable_allreduce_slice_to_reducescatter", "bool", "2.4")
of_speed_up("enable_interleave_split_concat_branch", "bool", "2.4")
of_speed_up("enable_offloading_packed_experts", "bool", "2.4")
records[#records].default, records[#records].default_text = nil, "whatever MindSpore's memory holds"
records[#records].changed = { ["2.5"] = { default = false, default_text = "" } }
of_speed_up("enable_interleave_parallel_branch", "bool", "2.5")
of_speed_up("pp_1f1b_overlap", "string", "2.6")
records[overlap].changed = { ["2.7"] = { kind = "string", default = "" } }
return records
