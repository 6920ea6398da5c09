-- MindSpore by a rank table (Ascend): muster writes the table from the addresses of hosts and devices, in the order of
-- ranks that MindSpore requires, and sets its path for every worker. To use an existing table: framework = {
-- "mindspore-ranktable", table = "hccl.json" }.
--
--   muster plan recipes/mindspore_rank_table.lua
local muster = require "muster"

-- The devices' addresses as printed by hccn_tool, here counted up from the first.
local function devices(network)
  local addresses = {}
  for number = 1, 8 do addresses[number] = network .. "." .. number end
  return addresses
end

return muster.recipe {
  name      = "mindspore-rank-table",
  doc       = "A MindSpore script on two Ascend hosts, started by a rank table",
  framework = {
    "mindspore-ranktable",
    servers = {
      { id = "192.0.2.11", devices = devices "198.51.100" },
      { id = "192.0.2.12", devices = devices "203.0.113" },
    },
  },

  params = { script = muster.path { "train.py", doc = "the training script" } },

  cluster = { hosts = 2, devices_per_host = 8 },

  plan = function(p, job)
    job:workers { command = { "python3", p.script, job.args }, env = { HCCL_CONNECT_TIMEOUT = 600 } }
  end,
}
