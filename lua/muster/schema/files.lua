-- The JSON files that attributes name (their field `file`), each as the table that it must contain. One record per
-- file, its keys as sub-keys; see context.lua and include/muster/mindspore/schema.h.
--   ignores_unknown   MindSpore ignores unknown keys: a warning instead of an error
--   only_warns        the same for invalid values
local function switch(name, doc, since)
  return { name, kind = "bool", default = false, doc = doc, since = since }
end

local function path(name, doc) return { name, kind = "string", doc = doc } end

-- Read once, when the attribute is set; each key is applied when it is read, and the first invalid one ends the script.
local parallel_speed_up = {
  switch("enable_concat_eliminate_opt", "Leave out needless concatenations."),
  switch("enable_begin_end_inline_opt", "Inline the first and the last subgraph."),
  switch("interleaved_matmul_comm", "Overlap matrix products with communication by parts."),
  switch("interleaved_layernorm_comm", "Overlap layer norms with communication by parts."),
  switch("enable_flash_attention_load_balance", "Balance sequence parallel flash attention."),
  switch("enable_allreduce_slice_to_reducescatter", "Make a slice of an AllReduce one ReduceScatter.", "2.4"),
  switch("enable_interleave_split_concat_branch", "Interleave branches between a split and its concatenation.", "2.4"),
  { "enable_offloading_packed_experts", kind = "bool", since = "2.4", default_text = "whatever MindSpore's memory holds",
    rule = "never initialised by MindSpore", doc = "Keep packed experts in host memory." },
  { "dataset_broadcast_opt_level", kind = "int", default = 0, since = "2.4", doc = "Optimize how a batch is broadcast." },
  switch("enable_interleave_parallel_branch", "Interleave parallel branches.", "2.5"),
  { "pp_1f1b_overlap", kind = "words", default = "", since = "2.6", doc = "Communication to overlap with computing in the 1f1b schedule.",
    choices = { "AlltoAll", "AlltoAllV", "MorphAllGather", "AllGather", "ReduceScatter", "MorphReduceScatter" },
    changed = { ["2.7"] = { choices = { "AlltoAll", "AlltoAllV", "MorphAllGather", "AllGather", "ReduceScatter", "MorphReduceScatter",
                                        "AllReduce", "" } } } },
}

-- A key that 2.6 renamed: the old name still works with a warning, the new one means the same. `record` makes both; it
-- is called with the name, the first release and the changes in later ones.
local function renamed(old, new, record)
  local changes = { ["2.6"] = { deprecated = new } }
  local list = parallel_speed_up
  list[#list + 1] = record(old, nil, changes)
  list[#list + 1] = record(new, "2.6", {})
end

local function renamed_switch(old, new, doc, since, documented)
  renamed(old, new, function(name, first, changes)
    local late = documented and not first
    if late then changes[documented] = { undocumented = false } end
    return { name, kind = "bool", default = false, doc = doc, since = first or since, undocumented = late or nil, changed = changes }
  end)
end

-- From 2.7 on these also accept the communication operators that are overlapped, in one text.
local function overlap(old, new, doc)
  renamed(old, new, function(name, first, changes)
    changes["2.7"] = { kind = "bool|words", choices = { "AlltoAll", "AlltoAllV", "AllGather", "ReduceScatter", "AllReduce" } }
    return { name, kind = "bool", default = false, doc = doc, since = first, changed = changes }
  end)
end

overlap("recompute_comm_overlap", "recomputation_communication_overlap", "Overlap recomputing with communication.")
renamed_switch("matmul_grad_comm_overlap", "grad_matmul_communication_overlap", "Overlap gradients of matrix products with communication.")
renamed_switch("enable_task_opt", "enable_communication_fusion", "Optimize the communication of tensor parallel networks.")
renamed_switch("enable_grad_comm_opt", "grad_computation_allreduce_overlap",
               "Overlap gradients with the communication of data parallel networks.")
renamed_switch("enable_opt_shard_comm_opt", "computation_allgather_overlap",
               "Overlap computing with the AllGather of the parallel optimizer.")
renamed_switch("bias_add_comm_swap", "allreduce_and_biasadd_swap", "Swap bias additions with the communication after them.", nil, "2.3.0")
renamed_switch("recompute_allgather_overlap_fagrad", "grad_fa_allgather_overlap",
               "Overlap recomputed AllGather with gradients of flash attention.", "2.3.0", "2.4")
renamed("compute_communicate_fusion_level", "computation_communication_fusion_level", function(name, first, changes)
  return { name, kind = "int", min = 0, documented_max = 3, default = 0, since = first, changed = changes,
           rule = "documented as 0 to 3; MindSpore takes any whole number", doc = "Fuse computing and communication: 0 to 3." }
end)

-- A wrong value is logged, and the default is used.
local env_config = {
  { "rdr", kind = "dict", ignores_unknown = true, doc = "The recorder of what a running job did.", keys = {
    { "enable", kind = "bool", default = false, doc = "Switch it on; stronger than MS_RDR_ENABLE." },
    { "mode", kind = "int", choices = { 1, 2 }, default = 1, doc = "Write after a failure (1) or after every end (2); stronger than MS_RDR_MODE." },
    { "path", kind = "string", default = "./", absolute = true, characters = "-_./", max = 1024, name_max = 255,
      doc = "Folder to write to; stronger than MS_RDR_PATH." },
  } },
  { "sys", kind = "dict", ignores_unknown = true, doc = "The system.", keys = {
    { "mem_reuse", kind = "bool", default = true, rule = "documents write mem_Reuse, which MindSpore does not read",
      doc = "Use memory of dead tensors again." },
  } },
}

-- Read by every process of a parameter-server job when it starts.
local ps_config = {
  { "recovery", kind = "dict", ignores_unknown = true, doc = "If this is there, servers that are started again take up their work.", keys = {
    { "storage_type", kind = "int", choices = { 1 }, required = true, only_warns = true,
      rule = "MindSpore passes over every other value", doc = "1: a file. There is no other." },
    { "storage_file_path", kind = "string", not_empty = true, required = true,
      rule = "an example of the documents writes storge_file_path, which MindSpore does not read", doc = "File that keeps the state of the cluster." },
    path("scheduler_storage_file_path", "File that keeps what the scheduler knows."),
  } },
  path("server_cert_path", "PKCS#12 file of the server's certificate."),
  path("client_cert_path", "PKCS#12 file of the client's certificate."),
  path("ca_cert_path", "PEM file of the authority."),
  path("crl_path", "File of revoked certificates; empty: none."),
  path("cipher_list", "Cipher suites, separated by colons; empty: MindSpore's own."),
  { "cert_expire_warning_time_in_day", kind = "int", min = 7, max = 180, default = 90, doc = "Days before a certificate's end at which warnings begin." },
  { "connection_num", kind = "int", min = 0, default = 10000, doc = "Most connections of a server." },
}

return {
  { "parallel_speed_up", kind = "dict", since = "2.3.0-rc2", keys = parallel_speed_up,
    doc = "Switches that overlap computing and communication." },
  { "env_config", kind = "dict", since = "1.6", keys = env_config, ignores_unknown = true, only_warns = true,
    rule = "MindSpore refuses what is not valid JSON, and nothing else", doc = "Settings of the running data recorder and of memory reuse." },
  { "ps_config", kind = "dict", since = "1.6", keys = ps_config, ignores_unknown = true,
    doc = "Recovery of parameter servers, and certificates." },
}
