-- Grid Engine: Son of Grid Engine, Univa and Altair Grid Engine. The parallel environment needs control_slaves TRUE, and
-- allocation_rule 1 so that a slot is a host.
return {
  name = "gridengine",
  doc = "Grid Engine: qsub and qrsh -inherit.",
  source = "Grid Engine 8.1.9, man pages qsub(1), qstat(1), qacct(1), qdel(1), sge_pe(5), accounting(5)",
  tried = "Son of Grid Engine 8.1.9, as Debian 12 packages it",

  inside = "PE_HOSTFILE",
  job = { variable = "JOB_ID" },
  -- "host slots queue processors"
  hosts = { file = "PE_HOSTFILE", form = "counts" },

  -- The signals of -notify reach all processes of the job, on all hosts, and are meant for the head alone. qrsh joins its words for
  -- the login shell there, which may be any.
  start = { "sh", "-c", [[agent=$1 file=$2 options=$3; shift 3; trap "" USR1 USR2; for host do qrsh -inherit -nostdin "$host" exec /bin/sh -c ]]
                .. [["'trap \"\" USR1 USR2; exec \"\$0\" \"\$@\"'" "$agent" --dial "$file" $options & done; wait]],
            "muster", "{agent}", "{dial_file}", "{options}", "{each_host}" },

  options = {
    { name = "nodes", type = "count", doc = "slots of the parallel environment, one on each host; those beyond the job's are spares" },
    { name = "pe", type = "text", default = "muster", into = "pe", line = "{value}", doc = "parallel environment with allocation_rule 1" },
    { name = "queue", type = "text", line = "-q {value}", doc = "queue" },
    { name = "account", type = "text", line = "-A {value}", doc = "account that is charged" },
    { name = "project", type = "text", line = "-P {value}", doc = "project" },
    { name = "time", type = "duration", form = "seconds", line = "-l h_rt={value}", doc = "time limit: 12h or 1d12h" },
    { name = "gpu", type = "count", line = "-l gpu={value}", devices = true, doc = "GPUs of each host, where the site counts them as gpu" },
    { name = "exclusive", type = "flag", default = false, line = "-l exclusive=true", doc = "whole hosts, where the site has this resource" },
    { name = "extra", type = "list", line = "{value}", doc = "further options of qsub, as they are: -l mem_free=256G" },
  },
  -- USR2 comes before the SIGKILL of qdel and of limits, the `notify` time of the queue earlier; USR1 before SIGSTOP.
  warning = { line = "-notify", signal = "USR2", ignored = { "USR1" } },
  script = {
    directive = "#$ ",
    always = { "-N {name}", "-S /bin/sh", "-V", "-r n", "-j y", "-pe {pe} {nodes}" },
    output = { "-o {output}" },
  },

  submit = { command = { "qsub", "-terse", "{script}" }, before = "." },
  cancel = { "qdel", "{each_job}" },
  queries = {
    { command = { "qstat" }, form = "columns", columns = { "job", "", "", "", "state" } },
    { command = { "qacct", "-j", "{job}" }, form = "stanzas", separator = " ", columns = { job = "jobnumber", exit = "exit_status", reason = "failed" },
      absent = { "not found" } },
  },
  -- A job that is being ended is one that is registered for deletion, by qdel or because of its time limit.
  ending = "cancelled",
  time_left = { "sh", "-c", [[limit=$(qstat -j "$1" | sed -n 's/^hard resource_list:.*h_rt=\([0-9]*\).*/\1/p'); ]]
    .. [[begin=$(qstat | sed -n "s|^ *$1 .* \([0-9]*/[0-9]*/[0-9]* [0-9:]*\) .*|\1|p" | tail -n 1); ]]
    .. [[[ -n "$limit" ] && [ -n "$begin" ] || exit 0; left=$((limit + $(date -d "$begin" +%s) - $(date +%s))); ]]
    .. [=[[ $left -ge 0 ] || left=0; printf '%d:%02d:%02d\n' $((left / 3600)) $((left % 3600 / 60)) $((left % 60))]=], "sh", "{job}" },
  states = {
    qw = "queued", hqw = "queued", hRwq = "queued", Rq = "queued", Eqw = "failed", t = "running", r = "running", Rr = "running",
    s = "suspended", S = "suspended", T = "suspended", ts = "suspended", dr = "ending", dt = "ending", ds = "ending",
  },
  reasons = { ["37"] = "time_limit", ["100"] = "failed" },
  exit = "code", signal_base = 128,
}
