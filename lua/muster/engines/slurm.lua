-- Slurm. Pages of engines are pure data; docs/engines.md describes the fields, src/engine/engine_page.h checks them.
return {
  name = "slurm",
  doc = "Slurm: salloc, sbatch and srun.",
  source = "man pages salloc(1), sbatch(1), srun(1), squeue(1), scontrol(1), sacct(1) of Slurm 22.05",
  tried = "Slurm 22.05.8, as Debian 12 packages it",

  inside = "SLURM_JOB_ID",
  job = { variable = "SLURM_JOB_ID" },
  hosts = { variable = "SLURM_JOB_NODELIST", form = "compressed", expand = { "scontrol", "show", "hostnames", "{list}" } },
  -- Without --ntasks and --ntasks-per-node these are processors.
  tasks = { variable = "SLURM_TASKS_PER_NODE", asked = "SLURM_NTASKS" },
  -- SLURM_JOB_GPUS is only known in a batch script, and only for its own node.
  devices = { command = { "scontrol", "show", "job", "--details", "--oneliner", "{job}" }, form = "gres", kinds = { "gpu", "npu" } },
  node_name = "SLURMD_NODENAME",

  -- --no-kill and --kill-on-bad-exit=0: srun never decides that a lost node or an agent ends the others. --overlap: the step
  -- does not wait for other steps. --cpus-per-task would have to be repeated since 22.05; --exact is not given, so that the
  -- step has all that the allocation has on a node.
  start = { "srun", "--nodes={count}", "--ntasks={count}", "--ntasks-per-node=1", "--nodelist={hosts}", "--no-kill",
            "--overlap", "--input=none", "--kill-on-bad-exit=0", "--export=ALL", "--cpu-bind=none", "--mpi=none",
            "--job-name=muster-agent", "{agent}", "--dial", "{dial_file}", "{each_option}" },
  -- Variables that would change what srun is asked for: srun(1), "INPUT ENVIRONMENT VARIABLES".
  clear = { "SLURM_CPUS_PER_TASK", "SLURM_DISTRIBUTION", "SLURM_EXACT", "SLURM_HINT", "SLURM_HOSTFILE", "SLURM_LABELIO",
            "SLURM_MULTI_PROG", "SLURM_NTASKS_PER_NODE", "SLURM_OPEN_MODE", "SLURM_RELATIVE", "SLURM_THREADS_PER_CORE",
            "SLURM_WAIT", "SRUN_CPUS_PER_TASK" },
  -- What describes the head's own task: programs that find these in every process would take each for the first one.
  own = { "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_GTIDS", "SLURM_TASK_PID", "SLURM_STEP_*", "SLURM_STEPID",
          "SLURM_LAUNCH_NODE_IPADDR", "SLURM_SRUN_COMM_*", "SLURM_TOPOLOGY_ADDR*", "SLURMD_NODENAME", "SLURM_CPU_BIND*" },

  -- Holds an allocation while the command behind it runs, and gives it back on SIGHUP, also if it is still queued.
  allocate = { command = { "salloc", "--job-name={name}", "--no-kill", "{each_option}" },
               after = "job allocation " },

  options = {
    { name = "nodes", type = "count", line = "--nodes={value}", doc = "nodes of the allocation; those beyond the job's are spares" },
    { name = "tasks_per_node", type = "count", default = 1, tasks = true, line = "--ntasks-per-node={value}", doc = "tasks of each node: workers without devices fill the nodes in order" },
    { name = "partition", type = "text", line = "--partition={value}", doc = "partition" },
    { name = "account", type = "text", line = "--account={value}", doc = "account that is charged" },
    { name = "qos", type = "text", line = "--qos={value}", doc = "quality of service" },
    { name = "time", type = "duration", form = "d-hh:mm:ss", line = "--time={value}", doc = "time limit: 12h, 1d12h or 1-12:00:00" },
    { name = "gres", type = "text", line = "--gres={value}", devices = true, doc = "generic resources of each node: gpu:8" },
    { name = "constraint", type = "text", line = "--constraint={value}", doc = "features that the nodes must have" },
    { name = "exclusive", type = "flag", default = true, line = "--exclusive", doc = "whole nodes; with no, the nodes are shared" },
    { name = "requeue", type = "requeue", doc = "requeue after these ends, at most so often: time_limit,preempted,node_fail,failed:3" },
    { name = "notice", type = "notice", doc = "how long before the time limit the run is stopped: 10m; default: what its checkpoint and its stop take" },
    { name = "each_trial", type = "each_trial", doc = "an allocation for each trial of a sweep, instead of one for all" },
    { name = "extra", type = "list", line = "{value}", doc = "further options of sbatch, as they are: --mem=0" },
  },
  -- USR1 reaches the head before the time limit and is a graceful stop; B: only the batch script gets it. TERM comes with
  -- scancel and preemption.
  notice = { signal = "USR1", seconds = 120, given = "--signal" },
  script = {
    directive = "#SBATCH ",
    always = { "--job-name={name}", "--no-kill", "--open-mode=append",
               "--signal=B:{notice_signal}@{notice_seconds}" },
    output = { '--output="{output}"' },
  },

  submit = { command = { "sbatch", "--parsable", "{script}" }, before = ";" },
  cancel = { "scancel", "{each_job}" },
  signal = { "scancel", "--batch", "--signal={signal}", "{each_job}" },
  -- Slurm requeues a job that is preempted in a partition with PreemptMode=REQUEUE, and one that loses a node. With --no-kill a job that
  -- loses its first node is neither ended nor requeued: it keeps the other nodes until its time limit.
  requeue = { line = "--requeue", otherwise = "--no-requeue", node_fail = "--no-kill=off", command = { "scontrol", "requeue", "{each_job}" },
              exclude = { "scontrol", "update", "JobId={jobs}", "ExcNodeList={hosts}" } },
  -- Least load on the scheduler first; a later one is asked for the jobs that the earlier ones say nothing final of.
  queries = {
    { command = { "squeue", "--noheader", "--states=all", "--jobs={jobs}", "--format=%i|%T|%r|%N" }, form = "columns", separator = "|",
      columns = { "job", "state", "reason", "hosts" }, absent = { "Invalid job id specified" } },
    { command = { "scontrol", "show", "job", "--oneliner", "{job}" }, form = "pairs",
      columns = { job = "JobId", state = "JobState", reason = "Reason", exit = "ExitCode", hosts = "NodeList" },
      absent = { "Invalid job id specified" } },
    { command = { "sacct", "--noheader", "--parsable2", "--allocations", "--jobs={jobs}", "--format=jobid,state,exitcode,nodelist" },
      form = "columns", separator = "|", columns = { "job", "state", "exit", "hosts" },
      absent = { "Slurm accounting storage is disabled" } },
  },
  -- For reports of runs that a lost node, scancel, a time limit or a preemption ended.
  host_query = { command = { "sinfo", "--noheader", "--Node", "--nodes={host}", "--format=%T|%E" }, separator = "|",
                 usual = { "allocated", "mixed", "completing", "idle" } },
  -- In the grace time of a preemption the job is RUNNING for squeue, and its steps have had SIGTERM.
  preempted = { command = { "scontrol", "show", "job", "--oneliner", "{job}" }, after = " PreemptTime=", unset = { "None", "Unknown" } },
  time_left = { "squeue", "--noheader", "--jobs={job}", "--format=%L" },
  -- What srun and slurmstepd print when a step is ended, and salloc for a job in the queue. squeue only says COMPLETING then.
  aborts = { { text = "DUE TO TIME LIMIT", state = "time_limit" }, { text = "DUE TO PREEMPTION", state = "preempted" },
             { text = "DUE TO NODE FAILURE", state = "node_failed" }, { text = "DUE TO JOB REQUEUE", state = "unknown" },
             { text = "CANCELLED AT", state = "cancelled" }, { text = "Job has been cancelled", state = "cancelled" } },
  -- Formats of the user's own that would change these answers.
  query_clear = { "SQUEUE_*", "SACCT_*", "SINFO_*", "SCONTROL_*", "SLURM_TIME_FORMAT", "SLURM_BITSTR_LEN" },
  -- What its commands print while slurmctld restarts.
  away = { "Unable to contact slurm controller", "Socket timed out on send/recv operation", "Zero Bytes were transmitted or received" },
  -- squeue(1), "JOB REASON CODES": limits that the job exceeds by itself.
  never = { "PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints", "QOSMaxWallDurationPerJobLimit", "AssocMaxWallDurationPerJobLimit" },
  states = {
    PENDING = "queued", REQUEUED = "queued", REQUEUE_FED = "queued", REQUEUE_HOLD = "queued", SPECIAL_EXIT = "queued",
    RESV_DEL_HOLD = "queued", CONFIGURING = "queued",
    RUNNING = "running", SUSPENDED = "suspended", STOPPED = "suspended", RESIZING = "running", SIGNALING = "running",
    COMPLETING = "ending", STAGE_OUT = "ending",
    COMPLETED = "succeeded", FAILED = "failed", BOOT_FAIL = "node_failed", NODE_FAIL = "node_failed", LAUNCH_FAILED = "node_failed",
    OUT_OF_MEMORY = "out_of_memory", CANCELLED = "cancelled", REVOKED = "cancelled", TIMEOUT = "time_limit", DEADLINE = "time_limit",
    PREEMPTED = "preempted",
  },
  exit = "code:signal",
}
