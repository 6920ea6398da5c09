-- MindSpore by a rank table: 2 hosts with 8 devices each. As texts the second host's address comes first, so its
-- devices have the ranks 0 to 7.
local muster = require "muster"

local function devices(first)
  local addresses = {}
  for i = 1, 8 do addresses[i] = "198.51.100." .. first + i - 1 end
  return addresses
end

return muster.recipe {
  name      = "conformance-c",
  framework = { "mindspore-ranktable", servers = { { id = "192.0.2.11", devices = devices(1) }, { id = "192.0.2.100", devices = devices(9) } } },
  cluster   = { hosts = 2, devices_per_host = 8 },
  plan = function(p, job)
    job:workers { command = { "train" } }
  end,
}
