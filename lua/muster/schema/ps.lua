-- Attributes of set_ps_context, the parameter-server mode. One record per attribute; see context.lua and
-- include/muster/mindspore/schema.h. Its reset switches the mode off and keeps the other attributes.
local uint32 = 4294967295

local function password(side)
  return { side .. "_password", kind = "string", default = "", secret = true, since = "1.6", kept_on_reset = true, group = "ps",
           doc = "Password of the key inside the " .. side .. " certificate.", changed = { ["2.3.0-rc2"] = { max = 1023 } } }
end

local records = {
  { "enable_ps", kind = "bool", default = false, reads = "never", per_process = false, since = "1.0", group = "ps",
    rule = "get_ps_context of 1.0 fails for every name",
    doc = "Train through parameter servers; only then the MS_ variables of the job are read.",
    changed = { ["1.6"] = { reads = "as_stored", rule = "" } } },
  { "config_file_path", kind = "string", default = "", file = "ps_config", since = "1.6", kept_on_reset = true, group = "ps",
    doc = "JSON file about recovery of servers and about certificates." },
  { "scheduler_manage_port", kind = "int", min = 0, max = 65535, default = 11202, since = "1.6", per_process = false,
    auto_port = "scheduler_manage", kept_on_reset = true, group = "ps", rule = "becomes 0 when enable_ps is set without MS_SCHED_MANAGE_PORT",
    doc = "Port at which the scheduler takes requests to grow or shrink the job." },
  { "enable_ssl", kind = "bool", default = false, since = "1.6", per_process = false, kept_on_reset = true, group = "ps",
    doc = "Encrypt what the processes say to each other." },
  password "client",
  password "server",

  -- The same as the MS_ variables of the job
  { "server_mode", kind = "enum", choices = { "PARAMETER_SERVER", "FEDERATED_LEARNING" }, default = "", since = "1.6", undocumented = true,
    per_process = false, kept_on_reset = true, group = "ps", doc = "What servers are for.",
    changed = { ["1.9"] = { choices = { "PARAMETER_SERVER" } } } },
  { "ms_role", kind = "enum", choices = { "MS_WORKER", "MS_SERVER", "MS_SCHED" }, default = "MS_NOT_PS", reads = "default", since = "1.6",
    undocumented = true, group = "ps", rule = "reads the role that MS_ROLE gives, not the one set here", doc = "Role of this process.",
    changed = { ["1.9"] = { choices = { "MS_WORKER", "MS_SERVER", "MS_PSERVER", "MS_SCHED" } } } },
  { "worker_num", kind = "int", min = 0, max = uint32, default = 0, since = "1.6", undocumented = true, per_process = false,
    kept_on_reset = true, group = "ps", doc = "Number of workers." },
  { "server_num", kind = "int", min = 1, max = uint32, default = 0, since = "1.6", undocumented = true, per_process = false,
    kept_on_reset = true, group = "ps", doc = "Number of servers.", changed = { ["1.9"] = { min = 0 } } },
  { "scheduler_ip", kind = "string", default = "0.0.0.0", since = "1.6", undocumented = true, per_process = false, kept_on_reset = true,
    group = "ps", doc = "Address of the scheduler." },
  { "scheduler_port", kind = "int", min = 1, max = 65535, default = 6667, since = "1.6", undocumented = true, per_process = false,
    kept_on_reset = true, group = "ps", doc = "Port of the scheduler.", changed = { ["1.9"] = { min = 0 } } },
}

-- Federated learning, in 1.6 and no longer in 1.9: attributes of the same function without an entry in its documents.
local function federated(kind, names, min, max, above)
  for i = 1, #names do
    records[#records + 1] = { names[i], kind = kind, min = min, max = max, above = above, since = "1.6", ["until"] = "1.6", undocumented = true,
                              per_process = false, group = "ps", default_text = "not documented", doc = "Of federated learning." }
  end
end
federated("bool", { "enable_fl", "enable_fl_client", "pki_verify" })
-- MindSpore checks these (_ps_context.py, _check_value).
federated("int", { "fl_server_port" }, 1, 65535)
federated("int", { "start_fl_job_threshold", "start_fl_job_time_window", "update_model_time_window", "cipher_time_window",
                   "reconstruct_secrets_threshold", "fl_iteration_num", "client_epoch_num", "client_batch_size" }, 1)
federated("int", { "worker_step_num_per_iteration", "replay_attack_time_diff", "sign_dim_out", "global_iteration_time_window" })
federated("float", { "update_model_ratio", "client_learning_rate" }, nil, nil, 0)
federated("float", { "share_secrets_ratio", "dp_eps", "dp_delta", "dp_norm_clip", "sign_k", "sign_eps", "sign_thr_ratio", "sign_global_lr" })
federated("string", { "fl_name", "root_first_ca_path", "root_second_ca_path", "equip_crl_path", "encrypt_type",
                      "http_url_prefix", "checkpoint_dir" })
return records
