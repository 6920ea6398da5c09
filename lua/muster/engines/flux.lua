-- Flux. A batch job is an instance of Flux of its own, whose brokers start the agents.
return {
  name = "flux",
  doc = "Flux: flux batch, flux alloc and flux exec.",
  source = "flux-core 0.66, man pages flux-batch(1), flux-exec(1), flux-getattr(1), flux-jobs(1), flux-job(1)",
  tried = false,

  inside = "FLUX_URI",
  job = { command = { "flux", "getattr", "jobid" } },
  hosts = { command = { "flux", "getattr", "hostlist" }, form = "compressed" },

  -- A broker's rank is its place in the list of hosts.
  start = { "flux", "exec", "--noinput", "--rank={positions}", "{agent}", "--dial", "{dial_file}", "{each_option}" },

  options = {
    { name = "nodes", type = "count", line = "--nodes={value}", doc = "nodes of the allocation; those beyond the job's are spares" },
    { name = "queue", type = "text", line = "--queue={value}", doc = "queue" },
    { name = "bank", type = "text", line = "--bank={value}", doc = "bank that is charged" },
    { name = "time", type = "duration", form = "seconds", line = "--time-limit={value}s", doc = "time limit: 12h or 1d12h" },
    { name = "gpus", type = "count", line = "--gpus-per-slot={value}", devices = true, doc = "GPUs of each node" },
    { name = "requires", type = "text", line = "--requires={value}", doc = "properties that the nodes must have" },
    { name = "exclusive", type = "flag", default = true, line = "--exclusive", doc = "whole nodes; with no, the nodes are shared" },
    { name = "extra", type = "list", line = "{value}", doc = "further options of flux batch, as they are: --setattr=system.x=1" },
  },
  script = {
    directive = "# flux: ",
    always = { "--job-name={name}", "--nslots={nodes}" },
    output = { "--output={output}" },
  },

  submit = { command = { "flux", "batch", "{script}" } },
  cancel = { "flux", "cancel", "{each_job}" },
  signal = { "flux", "job", "kill", "--signal={signal}", "{job}" },
  queries = {
    { command = { "flux", "jobs", "-a", "--no-header", "--format={{id}}|{{status}}|{{exception.type}}|{{returncode}}|{{nodelist}}", "{each_job}" },
      form = "columns", separator = "|", columns = { "job", "state", "reason", "exit", "hosts" }, absent = { "JobID", "not found" } },
  },
  query_clear = { "FLUX_JOBS_FORMAT_DEFAULT" },
  states = {
    DEPEND = "queued", PRIORITY = "queued", SCHED = "queued", PENDING = "queued", RUN = "running", RUNNING = "running",
    CLEANUP = "ending", COMPLETED = "succeeded", FAILED = "failed", CANCELED = "cancelled", TIMEOUT = "time_limit",
  },
  reasons = { preempt = "preempted", ["node-failure"] = "node_failed" },
  exit = "code", signal_base = 128,
}
