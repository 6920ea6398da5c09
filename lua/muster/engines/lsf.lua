-- IBM Spectrum LSF.
return {
  name = "lsf",
  doc = "IBM Spectrum LSF: bsub and blaunch.",
  source = "IBM Spectrum LSF 10.1 command reference: bsub, bjobs, bkill, blaunch; environment variables; job termination reasons",
  tried = false,

  inside = "LSB_JOBID",
  job = { variable = "LSB_JOBID" },
  -- "hostA 4 hostB 4"; LSB_HOSTS is not set for very many hosts.
  hosts = { variable = "LSB_MCPU_HOSTS", form = "pairs" },

  start = { "blaunch", "-n", "-no-shell", "-z", "{spaced_hosts}", "{agent}", "--dial", "{dial_file}", "{each_option}" },

  options = {
    { name = "nodes", type = "count", doc = "hosts of the allocation; those beyond the job's are spares" },
    { name = "queue", type = "text", line = "-q {value}", doc = "queue" },
    { name = "account", type = "text", line = "-P {value}", doc = "project that is charged" },
    { name = "group", type = "text", line = "-G {value}", doc = "user group" },
    { name = "time", type = "duration", form = "hh:mm", line = "-W {value}", doc = "time limit: 12h, 1d12h or 12:00" },
    { name = "gpu", type = "text", line = '-gpu "{value}"', doc = "GPUs of each host: num=8:mode=shared" },
    { name = "resources", type = "text", line = '-R "{value}"', doc = "resource requirement: select[mem>256GB]" },
    { name = "exclusive", type = "flag", default = true, line = "-x", doc = "whole hosts; with no, the hosts are shared" },
    { name = "extra", type = "list", line = "{value}", doc = "further options of bsub, as they are: -app train" },
  },
  -- -wt takes minutes.
  -- At that time before the limit, or what the checkpoint and the stop of the job take.
  notice = { signal = "TERM", seconds = 120 },
  script = {
    directive = "#BSUB ",
    always = { "-J {name}", "-rn", "-n {nodes}", '-R "span[ptile=1]"', "-wt {notice_minutes}", "-wa {notice_signal}" },
    output = { '-o "{output}"' },
  },

  submit = { command = { "bsub" }, after = "Job <", before = ">" },
  cancel = { "bkill", "{each_job}" },
  signal = { "bkill", "-s", "{signal}", "{each_job}" },
  queries = {
    { command = { "bjobs", "-noheader", "-a", "-o", "jobid stat exit_code exit_reason delimiter='|'", "{each_job}" }, form = "columns",
      separator = "|", columns = { "job", "state", "exit", "reason" }, absent = { "is not found" } },
  },
  query_clear = { "LSB_BJOBS_FORMAT", "LSB_DISPLAY_YEAR" },
  states = {
    PEND = "queued", PSUSP = "queued", WAIT = "queued", PROV = "queued", RUN = "running", USUSP = "suspended", SSUSP = "suspended",
    DONE = "succeeded", EXIT = "failed", ZOMBI = "node_failed", UNKWN = "unknown",
  },
  reasons = {
    TERM_RUNLIMIT = "time_limit", TERM_DEADLINE = "time_limit", TERM_OWNER = "cancelled", TERM_FORCE_OWNER = "cancelled",
    TERM_ADMIN = "cancelled", TERM_FORCE_ADMIN = "cancelled", TERM_PREEMPT = "preempted", TERM_MEMLIMIT = "out_of_memory",
    TERM_ZOMBIE = "node_failed", TERM_RC_RECLAIM = "preempted",
  },
  exit = "code", signal_base = 128,
}
