-- PBS Professional and OpenPBS. Torque differs: its pbsdsh counts and names nodes otherwise.
return {
  name = "pbs",
  doc = "PBS Professional and OpenPBS: qsub and pbsdsh.",
  source = "OpenPBS 22.05, man pages qsub(1B), qstat(1B), qdel(1B), qsig(1B), pbsdsh(1B); PBS Professional Reference Guide, job exit status codes",
  tried = false,

  inside = "PBS_JOBID",
  job = { variable = "PBS_JOBID" },
  hosts = { file = "PBS_NODEFILE", form = "lines" },

  -- pbsdsh starts a program on one node by its place in the node file; several calls at a time are what its manual describes.
  start = { "sh", "-c", 'agent=$1 file=$2 options=$3; shift 3; for node do pbsdsh -n "$node" -- "$agent" --dial "$file" $options & done; wait',
            "muster", "{agent}", "{dial_file}", "{options}", "{each_position}" },
  own = { "PBS_NODENUM", "PBS_TASKNUM", "PBS_VNODENUM" },

  options = {
    { name = "nodes", type = "count", doc = "chunks of the allocation, each on a node of its own; those beyond the job's are spares" },
    { name = "queue", type = "text", line = "-q {value}", doc = "queue" },
    { name = "account", type = "text", line = "-A {value}", doc = "account that is charged" },
    { name = "project", type = "text", line = "-P {value}", doc = "project" },
    { name = "time", type = "duration", form = "hh:mm:ss", line = "-l walltime={value}", doc = "time limit: 12h, 1d12h or 12:00:00" },
    { name = "ncpus", type = "count", into = "select", line = ":ncpus={value}", doc = "processors of each chunk" },
    { name = "mpiprocs", type = "count", into = "select", line = ":mpiprocs={value}", tasks = true, doc = "tasks of each chunk: workers without devices fill the nodes in order" },
    { name = "ngpus", type = "count", into = "select", line = ":ngpus={value}", devices = true, doc = "GPUs of each chunk" },
    { name = "mem", type = "text", into = "select", line = ":mem={value}", doc = "memory of each chunk: 256gb" },
    { name = "select", type = "text", into = "select", line = ":{value}", doc = "further resources of each chunk: arch=linux" },
    { name = "exclusive", type = "flag", default = true, into = "place", line = ":excl", doc = "whole nodes; with no, the nodes are shared" },
    { name = "extra", type = "list", line = "{value}", doc = "further options of qsub, as they are: -W group_list=physics" },
  },
  script = {
    directive = "#PBS ",
    always = { "-N {name}", "-r n", "-l select={nodes}{select}", "-l place=scatter{place}" },
    output = { "-j oe", "-o {output}" },
  },

  submit = { command = { "qsub", "{script}" } },
  cancel = { "qdel", "{each_job}" },
  signal = { "qsig", "-s", "{signal}", "{each_job}" },
  queries = {
    { command = { "qstat", "-x", "-f", "{each_job}" }, form = "stanzas", head = "Job Id:", separator = "=",
      columns = { state = "job_state", reason = "comment", exit = "Exit_status" }, absent = { "Unknown Job Id" } },
  },
  states = {
    Q = "queued", H = "queued", W = "queued", T = "queued", M = "queued", B = "running",
    R = "running", S = "suspended", U = "suspended", E = "ending", F = "ended", X = "ended", C = "ended",
  },
  exit = "code", signal_base = 256,
  exits = { ["-29"] = "time_limit", ["-25"] = "node_failed", ["-1"] = "failed", ["-2"] = "failed", ["-3"] = "node_failed" },
}
