-- What ps-lite and BytePS, which is built on it, have in common: the five variables without which a process of theirs
-- ends at once, and those that must not be inherited. The role's word is ours to spell: any other registers as a server.
return {
  clear = { "DMLC_*", "PORT", "PS_KEY", "BYTEPS_LOCAL_RANK", "BYTEPS_LOCAL_SIZE" },
  variables = {
    { "DMLC_ROLE", "all", "`scheduler`, `server` or `worker`" },
    { "DMLC_PS_ROOT_URI", "all", "address of the scheduler's host" },
    { "DMLC_PS_ROOT_PORT", "all", "the scheduler's port" },
    { "DMLC_NUM_SERVER", "all", "number of servers" },
    { "DMLC_NODE_HOST", "all", "address of its own host, by which the others reach it" },
  },
  common = function(role, job)
    return {
      DMLC_ROLE = role.plays, DMLC_NUM_SERVER = job.count.server,
      DMLC_PS_ROOT_URI = job.meeting.address, DMLC_PS_ROOT_PORT = job.meeting.port,
    }
  end,
}
