-- What ps-lite and BytePS, which is built on it, have in common: the five variables without which their processes exit
-- at once, and those that must not be inherited. Role names must be spelled exactly: any unknown name registers as a
-- server.
--
-- A process takes its own address from DMLC_NODE_HOST and reads DMLC_INTERFACE only without it (van.cc, Van::Start), so
-- DMLC_NODE_HOST is not set if the recipe or muster's environment sets DMLC_INTERFACE.
local INTERFACE = "DMLC_INTERFACE"

return {
  -- Variables that identify a process and its cluster; all other DMLC_ and PS_ variables can be set by the user.
  clear = { "DMLC_ROLE", "DMLC_NUM_WORKER", "DMLC_NUM_SERVER", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_NODE_HOST", "DMLC_RANK",
            "DMLC_TASK_ID", "DMLC_WORKER_ID", "DMLC_NUM_ATTEMPT", "DMLC_JOB_CLUSTER", "DMLC_TRACKER_*", "DMLC_LOCAL", "PORT",
            "BYTEPS_LOCAL_RANK", "BYTEPS_LOCAL_SIZE" },
  variables = {
    { "DMLC_ROLE", "all", "`scheduler`, `server` or `worker`", is = "role" },
    { "DMLC_PS_ROOT_URI", "all", "address of the scheduler's host", is = "address" },
    { "DMLC_PS_ROOT_PORT", "all", "the scheduler's port", is = "port" },
    { "DMLC_NUM_SERVER", "all", "number of servers", is = "count", of = "server" },
    { "DMLC_NODE_HOST", "all", "address of its own host, at which other processes connect; not set with `DMLC_INTERFACE`" },
    { "DMLC_INTERFACE", "all", "the inherited value at the time of planning; the recipe's value overrides it" },
  },
  inherited = "`DMLC_PS_VAN_TYPE`, `PS_VERBOSE`, `PS_RESEND` and all other tuning that muster is called with reaches every process. So does `DMLC_INTERFACE`, and `DMLC_NODE_HOST`, which would win over it, is then left out.",
  -- The roles whose processes find their address by a network interface; called in the contract's `prepare`.
  interfaces = function(job)
    local given = {}
    for _, role in ipairs(job.roles) do
      given[role.name] = job.inherited(INTERFACE) ~= nil
      for _, name in ipairs(job.variable_names(role)) do given[role.name] = given[role.name] or name == INTERFACE end
    end
    return given
  end,
  defaults = function(_, job) return { [INTERFACE] = job.inherited(INTERFACE) } end,
  node_host = function(process, job)
    return not (job.prepared or {})[process.role_name] and process.host.address or nil
  end,
  common = function(role, job)
    return {
      DMLC_ROLE = role.plays, DMLC_NUM_SERVER = job.count.server,
      DMLC_PS_ROOT_URI = job.meeting.address, DMLC_PS_ROOT_PORT = job.meeting.port,
    }
  end,
}
