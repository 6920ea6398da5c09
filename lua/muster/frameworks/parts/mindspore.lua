-- What MindSpore's three ways to start have in common: variables that must not be inherited, because MindSpore chooses
-- the way by which variables are set, and similar names that some or all releases do not read.
return {
  clear = { "OMPI_*", "PMIX_*", "MS_ROLE", "MS_WORKER_NUM", "MS_SERVER_NUM", "MS_SCHED_*", "MS_NODE_ID", "MS_NODE_RANK",
            "MS_WORKER_IP", "MS_DISABLE_HEARTBEAT", "MS_SIMULATION_LEVEL", "RANK_TABLE_FILE",
            "MINDSPORE_HCCL_CONFIG_PATH", "RANK_ID", "RANK_SIZE", "DEVICE_ID", "LOCAL_RANK", "LOCAL_RANK_SIZE" },
  absent = {
    MS_ENABLE_SECURITY = "MindSpore has no such variable; ENABLE_SECURITY is an option of its build",
    MS_CLUSTER_RETRY_NUM = "only MindSpore 2.2 read it",
    MS_CLUSTER_TIMEOUT = "only early builds of msrun read it; the time for all to register is MS_TOPO_TIMEOUT",
    MS_HCCL_CM_INIT = { "MindSpore ignores it since 2.4", since = "2.4" },
    MS_COMM_TYPE = { "MindSpore has not read it since 1.1", since = "1.1" },
    MS_INTERFACE = { "MindSpore has not read it since 1.1", since = "1.1" },
  },
  roles = { scheduler = "MS_SCHED", server = "MS_PSERVER", worker = "MS_WORKER" },  -- words of MS_ROLE
  -- Workers and servers 0 to 15 of a host try these ports first.
  own_ports = { 8118, 16309, "MindSpore's workers and servers open their own ports in 8118 to 16309" },
}
