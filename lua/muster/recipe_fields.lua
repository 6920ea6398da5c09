-- The recipe API as data: the fields of a recipe, of its tables and roles, the members of `job` and `process`, the types
-- of parameters and their options. The checks of recipe.lua, job.lua, policy.lua, fields.lua, checkpoints.lua, layout.lua and
-- parameters.lua take names, words and defaults from here; `muster docs` and docs/recipe-reference.md are generated from it.
--
-- A section has name, title, doc, example and fields; `page`, if it is part of another section's page; other_names of its
-- page; and `what`, another word for its fields. A field has
--   name       1 stands for the first element of a table without a name
--   type       what a value is; `words` lists all allowed values instead, in the order of messages
--   range      which values of the type are allowed
--   default    in the syntax of recipes, or a phrase; `required` if there is none
--   doc        one sentence; `example` in the syntax of recipes
-- and data for its check: `only` (roles of job:role), `settable` (of a process), `describes` (not in `each`), `engine` (of a recipe: options of an engine), `declaration` (of a type, for hints), `limits` (it has min, max, above, below).

local TIME, SIZE = 'duration: `"90s"`, `"1h30m"`', 'size: bytes or `"64MiB"`'

return {
  { name = "recipe", title = "Recipe", doc = "Fields of `muster.recipe { … }`. An extension (`base:extend { … }`) has the same fields, all optional.",
    example = [[
return muster.recipe {
  name   = "train",
  params = { lr = muster.float { 1e-3, above = 0 } },
  plan   = function(p, job)
    job:workers { count = 4, command = { "python3", "train.py", "--lr", p.lr } }
  end,
}]],
    fields = {
      { name = "name", type = "text", range = "letters, digits, `_`, `-`, `.`", required = true, doc = "Names the job and the folder of its runs.",
        example = 'name = "gpt-175b"' },
      { name = "doc", type = "text", doc = "One line that says what the recipe does; `muster params` and `muster ls --recipes` show it.",
        example = 'doc = "trains GPT"' },
      { name = "version", type = "text", doc = "Version of the recipe: a derived value `version` of its plans, so `muster plan`, `muster ls --columns version` and `muster ls --where` show it.",
        example = 'version = "1.5"' },
      { name = "framework", type = "name, table or contract", default = '"none"',
        doc = "Launch contract whose variables the processes get (`muster docs frameworks`); a table adds options of the contract, each a value or a function of the parameters.",
        example = 'framework = { "jax", imitate = "slurm" }' },
      { name = "mindspore", type = "release", doc = "MindSpore release whose context API the recipe uses (`muster docs releases`).",
        example = 'mindspore = "2.3"' },
      { name = "accept_release", type = "true or false", default = "false",
        doc = "Applies the context also in scripts that import another release than `mindspore`.", example = "accept_release = true" },
      { name = "apply_context", type = "true or false", default = "true",
        doc = "Applies the context when a script imports MindSpore; with `false` the script has to request it.", example = "apply_context = false" },
      { name = "params", type = "table of parameters", doc = "Parameters by name; tables inside are blocks (`muster docs parameters`).",
        example = "params = { layers = muster.int { 24, min = 1 } }" },
      { name = "profiles", type = "table of tables", doc = "Named sets of values that `--profile` selects: parameters, `hosts` and `devices_per_host`.",
        example = "profiles = { smoke = { layers = 2, hosts = 1 } }" },
      { name = "cluster", type = "table", doc = "Hosts and devices that the job runs on (`muster docs cluster`).", example = "cluster = { hosts = 2 }" },
      { name = "limits", type = "table", doc = "Time limits of the whole job (`muster docs limits`).", example = 'limits = { time = "12h" }' },
      { name = "logs", type = "table", doc = "Size limit of logs, for roles without one of their own (`muster docs logs`).", example = 'logs = { max = "1GiB" }' },
      { name = "container", type = "table", doc = "Container in which the processes of all roles run (`muster docs container`).",
        example = 'container = { image = "train:1" }' },
      { name = "checkpoint", type = "table or function of `p`", doc = "Where the job writes checkpoints (`muster docs checkpoint`).",
        example = 'checkpoint = { dir = "checkpoints", latest = "step_*.pt" }' },
      { name = "metrics", type = "table of patterns", doc = "Metrics that are read from a log, by name, for runs and sweeps alike (`muster docs metrics`).",
        example = 'metrics = { val_acc = [[val_acc=([0-9.]+)]] }' },
      { name = "notify", type = "table, list of tables, function of `p`, or `false`", doc = "Commands and webhooks that are notified of events of the run or sweep (`muster docs notify`); an extension's replaces the base's.",
        example = 'notify = { command = { "notify-send", "muster" }, on = { "failed", "ended" } }' },
      { name = "slurm", type = "table", engine = true, doc = "Options of Slurm for `--on slurm`: `partition`, `account`, `time`, … (`muster docs slurm`).",
        example = 'slurm = { partition = "gpu", time = "12h", gres = "gpu:8" }' },
      { name = "pbs", type = "table", engine = true, doc = "Options of PBS for `--on pbs` (`muster docs pbs`).", example = 'pbs = { queue = "gpu", ngpus = 8 }' },
      { name = "lsf", type = "table", engine = true, doc = "Options of LSF for `--on lsf` (`muster docs lsf`).", example = 'lsf = { queue = "gpu", gpu = "num=8" }' },
      { name = "flux", type = "table", engine = true, doc = "Options of Flux for `--on flux` (`muster docs flux`).", example = 'flux = { queue = "gpu", gpus = 8 }' },
      { name = "gridengine", type = "table", engine = true, doc = "Options of Grid Engine for `--on gridengine` (`muster docs gridengine`).",
        example = 'gridengine = { pe = "mpi1", queue = "gpu.q" }' },
      { name = "kubernetes", type = "table", engine = true, doc = "Options of Kubernetes for `--on kubernetes`: `image`, `devices`, … (`muster docs kubernetes`).",
        example = 'kubernetes = { image = "registry.example/train:1", devices = "nvidia.com/gpu:8" }' },
      { name = "plan", type = "function", required = true,
        doc = "Describes the processes of the job and starts none; an extension's gets the base's plan function as third argument.",
        example = "plan = function(p, job) … end" },
    } },

  { name = "cluster", title = "Cluster", doc = "Fields of `cluster` in a recipe. The command line (`--host`, `hosts=4`) and profiles override them.",
    example = 'cluster = { hosts = 2, devices_per_host = 8 }',
    fields = {
      { name = "hosts", type = "whole number", default = "1", doc = "Number of hosts.", example = "hosts = 4" },
      { name = "devices_per_host", type = "whole number", default = "those of this machine, or 1", doc = "Devices of a host that gives no number of its own.",
        example = "devices_per_host = 8" },
      { name = "host_list", type = "text or list of texts", doc = "Hosts by name, with their numbers of devices, instead of `hosts`.",
        example = 'host_list = { "n[01-04]:8", "n5:4" }' },
      { name = "device_kind", type = '`"ascend"`, `"cuda"` or `"hip"`', default = "that of `device_target`, or of this machine",
        doc = "Kind of the devices, which decides the variable that selects them.", example = 'device_kind = "cuda"' },
      { name = "share_devices", type = "true or false", default = "false", doc = "Lets other runs with the same setting use the devices at the same time.",
        example = "share_devices = true" },
    } },

  { name = "limits", title = "Limits of a recipe", doc = "Fields of `limits` in a recipe. A job that exceeds one has failed and is stopped.",
    example = 'limits = { time = "12h", start = "10m", silent = "30m" }',
    fields = {
      { name = "time", type = TIME, default = "no limit", doc = "Run time of the whole job, until its work is done.", example = 'time = "1d12h"' },
      { name = "start", type = TIME, default = "no limit", doc = "Time from the first start until every process is ready.", example = 'start = "10m"' },
      { name = "silent", type = TIME, default = "no limit", doc = "Time in which no process of the job writes any output.", example = 'silent = "30m"' },
    } },

  { name = "logs", title = "Logs", doc = "Fields of `logs` in a recipe and in a role; a role's own value wins.", example = 'logs = { max = "1GiB" }',
    fields = {
      { name = "max", type = SIZE, range = "1MiB to 1PiB", default = "no limit", doc = "Size of each log; a log that exceeds it loses its beginning.",
        example = 'max = "64MiB"' },
    } },

  { name = "container", title = "Container", doc = "Fields of `container` in a recipe and in a role. A role takes the fields that it does not set from the recipe; `container = false` runs it outside.",
    example = 'container = { image = "train:1", runtime = "podman", mounts = { "/data:/data:ro" }, options = { "--ulimit=memlock=-1" } }',
    fields = {
      { name = "image", type = "text", required = true, doc = "Image, as the runtime names it.", example = 'image = "registry.example/train:1"' },
      { name = "runtime", words = { "podman", "apptainer", "docker", "enroot" }, default = '"podman"', doc = "Program that runs the container on each host.", example = 'runtime = "apptainer"' },
      { name = "mounts", type = "text or list of texts", range = "`/path`, `/path:/in/container`, with `:ro` at the end",
        doc = "Paths of the host that the processes find in the container, besides working folder, run directory and shipped code.", example = 'mounts = { "/data", "/models:/mnt:ro" }' },
      { name = "options", type = "text or list of texts", doc = "Further options of the runtime.", example = 'options = { "--shm-size=8g" }' },
    } },

  { name = "checkpoint", title = "Checkpoint", doc = "Fields of `checkpoint` in a recipe. A function of the parameters may return the table.",
    example = 'checkpoint = { dir = "checkpoints", latest = "step_*.pt", signal = "USR1" }',
    fields = {
      { name = "dir", type = "path", required = true, doc = "Folder of the checkpoints; a relative path is below the run directory.", example = 'dir = "checkpoints"' },
      { name = "latest", type = "pattern or table", required = true,
        doc = "Pattern of the checkpoints' paths below `dir`, or `{ file = … }`: a file there that holds the path of the newest one.",
        example = 'latest = { file = "latest" }' },
      { name = "complete", type = "path below a checkpoint", doc = "A checkpoint that is a folder counts only if it contains this file.", example = 'complete = "metadata.json"' },
      { name = "signal", type = "signal", range = "not KILL or STOP", doc = "Signal that requests a checkpoint before the job is stopped.", example = 'signal = "USR1"' },
      { name = "wait", type = TIME, range = "up to a day", default = '"30s"', doc = "How long the stop waits for the requested checkpoint; needs `signal`.",
        example = 'wait = "2m"' },
      { name = "roles", type = "name or list of names", default = "the workers", doc = "Roles whose processes get `signal`.", example = 'roles = { "trainer" }' },
    } },

  { name = "metrics", title = "Metrics",
    doc = "Fields of `metrics` in a recipe. Every other field is a metric: a regular expression (RE2) with one group, which is the value, applied to each line of a log; `--metric NAME=PATTERN` and a sweep's `metrics` replace those of the same name.",
    example = 'metrics = { step = [[iteration (\\d+)]], val_loss = [[val_loss: (\\S+)]], role = "trainer" }',
    fields = {
      { name = "role", type = "name of a role", default = "that of rank 0", doc = "Role whose first process writes the log.", example = 'role = "trainer"' },
      { name = "stdout", type = "table of patterns", doc = "Further metrics, such as those with the names of these fields.", example = 'stdout = { role = [[role=(\\d+)]] }' },
    } },

  { name = "notify", title = "Notify", other_names = { "notification", "notifications" },
    doc = "Fields of `notify` in a recipe or site file: either `command` or `webhook`. A sweep is notified of as a whole; its trials are not (`muster docs notify`).",
    example = 'notify = { webhook = muster.secret { from_env = "SLACK_WEBHOOK" }, on = { "first_result", "failed", "ended" } }',
    fields = {
      { name = "command", type = "list, or `muster.shell`", doc = "Run once per event, with one JSON object on stdin, in the folder that muster was called from.",
        example = 'command = { "notify-send", "muster" }' },
      { name = "webhook", type = "text, secret or `{ from_file = … }`", range = "http or https", doc = "Address to which `curl` posts the JSON object.",
        example = 'webhook = muster.secret { from_env = "SLACK_WEBHOOK" }' },
      { name = "env", type = "table of variables", doc = "Variables of the command besides those of muster; values may be secrets.",
        example = 'env = { MAILTO = "ann@example.org", TOKEN = { from_file = "~/.config/token" } }' },
      { name = "on", type = "event or list of events", default = '"ended"', doc = "Events that are notified.", example = 'on = { "first_result", "failed", "ended" }' },
    } },

  { name = "notify.on", page = "notify", what = "event", title = "Events", doc = "Events of `on` in `notify`. An event that may repeat is sent at most once a minute; the JSON then has the latest and the number left out.",
    example = 'on = { "started", "first_result", "failed", "ended" }',
    fields = {
      { name = "started", type = "once", doc = "All processes of the run have started and are ready; a sweep has begun, or goes on after `muster resume`.", example = 'on = "started"' },
      { name = "first_result", type = "once", doc = "The first metrics were reported: by any process of a run, or any trial of a sweep.", example = 'on = "first_result"' },
      { name = "restarted", type = "may repeat; runs only", doc = "Processes are restarted by a `restart` policy.", example = 'on = "restarted"' },
      { name = "best", type = "may repeat; sweeps only", doc = "A trial has ended with the best result so far.", example = 'on = "best"' },
      { name = "trial_failed", type = "may repeat; sweeps only", doc = "A trial has failed, and is not tried again.", example = 'on = "trial_failed"' },
      { name = "failed", type = "once", doc = "The run fails, as soon as that is certain, or the sweep ends with an exit code other than 0; not if somebody stopped it.", example = 'on = "failed"' },
      { name = "ended", type = "once", doc = "The run or sweep is over, whatever its outcome.", example = 'on = "ended"' },
    } },

  { name = "job", what = "member", title = "Members of `job`", doc = "The second argument of the plan function. Methods are called with a colon: `job:workers { … }`.",
    example = [[
plan = function(p, job)
  job:env { OMP_NUM_THREADS = 4 }
  job:workers { per_host = job.cluster.devices_per_host, devices = 1, command = { "train", job.args } }
end]],
    fields = {
      { name = "scheduler", type = "method", describes = true, doc = "Describes the role `scheduler` (`muster docs role`).", example = 'job:scheduler { command = { "serve" } }' },
      { name = "servers", type = "method", describes = true, doc = "Describes the role `server`.", example = 'job:servers { count = 2, command = { "serve" } }' },
      { name = "workers", type = "method", describes = true, doc = "Describes the role `worker`, whose processes have ranks.",
        example = 'job:workers { count = 8, command = { "train" } }' },
      { name = "role", type = "method", describes = true, doc = "Describes a role with a name of its own.", example = 'job:role "evaluator" { count = 1, command = { "eval" } }' },
      { name = "env", type = "method", describes = true, doc = "Sets variables of all processes; a later call overrides an earlier one.", example = 'job:env { LR = p.lr }' },
      { name = "activate", type = "method", describes = true, doc = "Prepares each host before its first process (`muster docs job:activate`).",
        example = 'job:activate { conda = "train" }' },
      { name = "file", type = "method", describes = true, doc = "Writes a file below the run directory and returns its path (`muster docs job:file`).",
        example = 'job:file { "train.yaml", yaml = { lr = p.lr } }' },
      { name = "derive", type = "method", describes = true, doc = "Records computed values, which the plan shows and `--pin` forces, and returns them.",
        example = "local d = job:derive { steps = p.tokens / p.batch }" },
      { name = "port", type = "method", doc = "Reserves a port and returns its number as text, known at the start (`muster docs job:port`).", example = 'job:port "metrics"' },
      { name = "address", type = "method", doc = "Returns the address of another role's process, `host:port`, known at the start (`muster docs job:address`).",
        example = 'job:env { DATA = job:address "server" }' },
      { name = "check", type = "method", doc = "Reports an error unless the condition holds, and continues; the message is formatted by string.format.",
        example = 'job:check(p.layers > 1, "layers = %d", p.layers)' },
      { name = "mesh", type = "method", doc = "Returns a mesh of named axes, the last one varying fastest: `size`, `coords(rank)` and `rank(coords)`.",
        example = 'local mesh = job:mesh { { "pp", 2 }, { "dp", 4 } }' },
      { name = "cluster", type = "table", doc = "Hosts and devices: `hosts`, `devices_per_host`, `devices_of`, `devices` and `host_memory` (bytes).",
        example = "job.cluster.hosts" },
      { name = "args", type = "list of texts", doc = "Words after `--` on the command line.", example = 'job:workers { command = { "train", job.args } }' },
      { name = "run_dir", type = "text", doc = "Path of the run directory, known at the start.", example = "job:env { OUT = job.run_dir }" },
      { name = "sweep", type = "table", doc = "Trial of a sweep: `id`, `trial`, `attempt` (from 1) and `point` (JSON): texts to pass on, filled at the start and empty outside of sweeps; conditions of the recipe cannot look at them.", example = "job.sweep.trial" },
      { name = "checkpoint", type = "table", doc = "With `checkpoint` in the recipe: `dir`, and `newest`, the checkpoint from which each start continues.",
        example = "job.checkpoint.newest" },
      { name = "resume", type = "table or nil", doc = "With `--resume`: `run`, the id of the run that is continued, and `checkpoint`, its path.",
        example = 'job.resume and { "--resume", job.resume.checkpoint }' },
    } },

  { name = "job:activate", title = "`job:activate`", doc = "Steps that prepare a host once, in this order, in one shell; its environment reaches the host's processes.",
    example = 'job:activate { source = "/opt/set_env.sh", module = { "cuda/12" }, conda = "train" }',
    fields = {
      { name = "source", type = "path or list of paths", range = "absolute", doc = "Files that the shell reads.", example = 'source = muster.here "set_env.sh"' },
      { name = "module", type = "name or list of names", doc = "Environment modules to load (`module load`).", example = 'module = { "cuda/12" }' },
      { name = "conda", type = "name", doc = "Conda environment to activate.", example = 'conda = "train"' },
    } },

  { name = "job:file", title = "`job:file`", doc = "A file that is written below the run directory before anything starts: one of `text`, `yaml` and `json`.",
    example = 'local path = job:file { "train.yaml", yaml = { lr = p.lr, seed = 7 } }',
    fields = {
      { name = 1, type = "relative path", required = true, doc = "Name of the file; folders are created.", example = '"conf/train.yaml"' },
      { name = "text", type = "text", doc = "Content as it is.", example = 'text = "#!/bin/sh\\n…"' },
      { name = "yaml", type = "value", doc = "Value that is written as YAML.", example = "yaml = { lr = p.lr }" },
      { name = "json", type = "value", doc = "Value that is written as JSON.", example = "json = { lr = p.lr }" },
    } },

  { name = "job:port", title = "`job:port`", what = "option",
    doc = "Reserves a port of the job. Arguments: its name (letters, digits, `_`, `-`), then options. The same name is the same port; it must differ from the names in roles' `ports`.",
    example = 'job:port("metrics", { number = 9000, host = 0 })',
    fields = {
      { name = "number", type = "whole number", range = "1 to 65535", default = "a free port", doc = "Fixed number, which muster does not change.", example = "number = 9000" },
      { name = "host", type = "whole number", range = "from 0", default = "0", doc = "Number of the host whose port it is.", example = "host = 1" },
    } },

  { name = "job:address", title = "`job:address`", what = "option",
    doc = "Returns the address at which a process of another role listens. Arguments: the role's name, then options. The text is known at the start; commands, variables, `cwd` and files of `job:file` can contain it. "
      .. "The role may be described later, and two roles can contain each other's addresses, because ports are reserved before any process starts. `after` and `ready` determine which role starts first.",
    example = [[
job:role "store" { ports = "rpc", command = { "serve" }, ready = { port = "rpc" }, done = "never" }
job:workers { count = 4, command = { "train", "--store", job:address "store" }, after = "store" }]],
    fields = {
      { name = "index", type = "whole number", range = "from 0", default = "the only process", doc = "Number of the process within the role.", example = "index = 0" },
      { name = "port", type = "name", default = "the only port", doc = "One of the role's `ports`.", example = 'port = "rpc"' },
      { name = "part", words = { "host:port", "host", "port" }, default = '"host:port"', doc = "Both, the address of the host alone, or the number of the port alone.",
        example = 'part = "host"' },
    } },

  { name = "role", title = "Role", doc = "Options of `job:scheduler`, `job:servers`, `job:workers` and `job:role \"NAME\"`.",
    example = [[
job:workers {
  count   = 8,
  devices = 1,
  command = { "python3", "train.py", "--lr", p.lr, p.debug and "--debug" },
  restart = { max = 3, within = "10m" },
}]],
    fields = {
      { name = "count", type = "whole number", range = "0 to 1000000", default = "1; workers: one per device", doc = "Number of processes in all.", example = "count = 8" },
      { name = "per_host", type = "whole number", range = "0 to 1000000", doc = "Number of processes on every host; with `count` the largest number, and hosts are filled in order.", example = "per_host = 2" },
      { name = "command", type = "list, or `muster.shell`", default = "that of `each` or the contract",
        doc = "Program and arguments: texts and numbers; lists inside are flattened and `false` is omitted.", example = 'command = { "train", "--lr", p.lr }' },
      { name = "env", type = "table of variables", doc = "Variables of the processes; `muster.unset` removes one, `override = true` allows values that contradict the contract.",
        example = "env = { OMP_NUM_THREADS = 4 }" },
      { name = "cwd", type = "path", default = "where muster was called", doc = "Working directory of the processes.", example = "cwd = job.run_dir" },
      { name = "devices", type = "whole number", range = "0 to 1000000", default = "1 for workers if `device_kind` is known, else 0", doc = "Number of devices of each process.", example = "devices = 1" },
      { name = "visible", words = { "job", "own" }, default = '"job"',
        doc = "Devices that a process can see: all that the job holds on the host, or only its own.", example = 'visible = "own"' },
      { name = "spread", words = { "pack", "deal" }, default = '`"pack"` with devices, else `"deal"`', doc = "Placement: fill one host after the other, or distribute evenly over the hosts. Without it workers that take no devices fill hosts which are named with a number (`--host a:4,b:2`) up to that number.",
        example = 'spread = "deal"' },
      { name = "on_hosts", type = "number or list of numbers", range = "from 0", default = "all hosts", doc = "Numbers of the hosts that the role may use.",
        example = "on_hosts = { 0, 1 }" },
      { name = "ports", type = "name or list of names", doc = "Ports that each process gets, as `process.ports.NAME`; others find them by `job:address`.", example = 'ports = { "rpc" }' },
      { name = "each", type = "function", doc = "Called for each process, whose command, folder, variables and context it may set (`muster docs process`).",
        example = "each = function(process) … end" },
      { name = "apply_context", type = "true or false", default = "if the command is Python",
        doc = "`true`: applies the context to scripts whatever the command looks like; `false`: scripts have to request it.", example = "apply_context = true" },
      { name = "wrap", type = "list", doc = "Words before the command of each process, such as a tracer or a profiler.", example = 'wrap = { "strace", "-f" }' },
      { name = "cores", type = '`"auto"`, number or list', default = "any core", doc = "Processor cores: an equal share for each process, a number of cores for each, or a list for all of them.",
        example = 'cores = "0-7,16-23"' },
      { name = "after", type = "name or list of names", doc = "Roles whose processes have to be ready before this role starts.", example = 'after = { "scheduler" }' },
      { name = "ready", type = "table", default = "when its program runs", doc = "When a process counts as ready (`muster docs readiness`).", example = 'ready = { port = "rpc" }' },
      { name = "restart", type = "table, number or `\"verdict\"`", default = "never", doc = "When processes are restarted; a number is `{ max = … }`, `\"verdict\"` is `{ verdict = true }` (`muster docs restart`).", example = "restart = 3" },
      { name = "limits", type = "table", doc = "Time limits of the role (`muster docs limits`).", example = 'limits = { silent = "15m" }' },
      { name = "logs", type = "table", default = "that of the recipe", doc = "Size limit of the role's logs (`muster docs logs`).", example = 'logs = { max = "1GiB" }' },
      { name = "container", type = "table or `false`", default = "that of the recipe", doc = "Container in which the processes run (`muster docs container`).",
        example = 'container = { image = "train:1" }' },
      { name = "stop", type = "table", doc = "How the processes are stopped (`muster docs stop`).", example = 'stop = { signal = "INT", grace = "30s" }' },
      { name = "done", words = { "all", "any", "never" }, default = 'that of the contract, or `"all"`',
        doc = "Whether the job waits for all processes of the role, for one, or for none because the role serves.", example = 'done = "never"' },
      { name = "as", type = "role of the contract", default = '"other"', only = "job:role", doc = "What the role is for the contract of the framework.", example = 'as = "worker"' },
      { name = "world", type = "name", default = '`"worker"` for workers', only = "job:role", doc = "World in which the processes have ranks, across roles.", example = 'world = "rollout"' },
    } },

  { name = "ready", title = "Readiness", other_names = { "readiness" }, doc = "Fields of `ready` in a role: exactly one of `port`, `file`, `line`, `command` and `done`.",
    example = 'ready = { port = "rpc", timeout = "2m" }',
    fields = {
      { name = "port", kind = true, type = "name, `job:port` or number", doc = "Ready when a process of the job listens on this port of its host.", example = 'port = "rpc"' },
      { name = "file", kind = true, type = "path", doc = "Ready when this file exists; a relative path is below the process's folder.", example = 'file = "server.pid"' },
      { name = "line", kind = true, type = "text", range = "one line", doc = "Ready when the output contains this text within one line.", example = 'line = "listening"' },
      { name = "command", kind = true, type = "list, or `muster.shell`", doc = "Ready when this command exits with 0.", example = 'command = { "redis-cli", "ping" }' },
      { name = "done", kind = true, type = "`true`", doc = "Ready when the process has exited with 0.", example = "done = true" },
      { name = "timeout", type = TIME, default = '"5m"', doc = "Time from the start; a process that is not ready by then has failed.", example = 'timeout = "30s"' },
      { name = "every", type = TIME, default = '"1s"', doc = "Interval at which `command` is tried.", example = 'every = "5s"' },
    } },

  { name = "restart", title = "Restart", doc = "Fields of `restart` in a role.",
    example = 'restart = { max = 3, within = "10m", on = { 75, "SIGKILL" }, backoff = "5s", scope = "role" }',
    fields = {
      { name = "max", type = "whole number", range = "0 to 1000000", default = "100 with `verdict`, else none", doc = "Number of restarts of the role; one more exit is a failure. Required without `verdict`.", example = "max = 3" },
      { name = "within", type = TIME, default = "the whole run", doc = "Only restarts within this time count for `max`.", example = 'within = "10m"' },
      { name = "on", type = '`"failure"`, `"always"` or list', default = '"failure"',
        doc = "Exits that cause a restart; a list has exit codes (1 to 255), names of signals, `\"success\"` and `\"failure\"`.", example = 'on = { 75, "SIGKILL" }' },
      { name = "backoff", type = TIME, range = "0 too", default = '"1s"', doc = "Delay before a restart, doubled by each restart that counts, up to one minute.", example = 'backoff = "5s"' },
      { name = "scope", words = { "process", "role", "job" }, default = '"process"', doc = "What is restarted: the process that exited, its role, or the job.", example = 'scope = "role"' },
      { name = "verdict", type = "true or false", default = "false", doc = "Restart only what a restart can help, and elsewhere if the host is the cause (`muster docs verdicts`).", example = "verdict = true" },
    } },

  { name = "role.limits", page = "limits", title = "Limits of a role", doc = "Fields of `limits` in a role. A process or role that exceeds one has failed.",
    example = 'limits = { time = "2h", silent = "15m" }',
    fields = {
      { name = "time", type = TIME, default = "no limit", doc = "Run time of each attempt of a process.", example = 'time = "2h"' },
      { name = "silent", type = TIME, default = "no limit", doc = "Time in which no process of the role writes any output.", example = 'silent = "15m"' },
    } },

  { name = "stop", title = "Stop", doc = "Fields of `stop` in a role.", example = 'stop = { signal = "INT", grace = "30s" }',
    fields = {
      { name = "signal", type = "signal", default = '"TERM"', doc = "Signal that asks a process to exit.", example = 'signal = "INT"' },
      { name = "grace", type = TIME, default = '"10s"', doc = "Time between `signal` and SIGKILL.", example = 'grace = "30s"' },
    } },

  { name = "process", what = "member", title = "Members of `process`", doc = "The argument of `each` in a role. `command`, `cwd`, variables of `env` and attributes of the context can be set; the rest is read-only.",
    example = [[
each = function(process)
  process.env.LOCAL_PORT = process.ports.rpc
  process:context { device_id = process.local_rank }
  if process.rank == 0 then process.command = { "train", "--log" } end
end]],
    fields = {
      { name = "context", type = "method", doc = "Sets attributes of the context for this process alone, whatever function of the context API they belong to.",
        example = "process:context { device_id = process.local_rank }" },
      { name = "command", settable = true, type = "list, or `muster.shell`", doc = "Program and arguments of the process.", example = 'process.command = { "train" }' },
      { name = "cwd", settable = true, type = "path", doc = "Working directory of the process.", example = "process.cwd = job.run_dir" },
      { name = "env", settable = true, type = "variables", doc = "Variables of the process: one is assigned, several are given in a call.",
        example = "process.env { SEED = process.rank }" },
      { name = "role", type = "text", doc = "What the role is for the contract: `\"scheduler\"`, `\"server\"`, `\"worker\"`, `\"other\"` or another of its roles.", example = 'process.role == "worker"' },
      { name = "index", type = "whole number", doc = "Number within the role, from 0.", example = "process.index" },
      { name = "rank", type = "whole number or nil", doc = "Rank within the world, from 0; nil in roles without ranks.", example = "process.rank == 0" },
      { name = "local_rank", type = "whole number", doc = "Rank among the world's processes on the host, from 0.", example = "process.local_rank" },
      { name = "world_size", type = "whole number", doc = "Number of processes of the world.", example = "process.world_size" },
      { name = "local_size", type = "whole number", doc = "Number of the world's processes on the host.", example = "process.local_size" },
      { name = "host", type = "table", doc = "Host of the process: `index` (from 0), `name` and `address`.", example = "process.host.index" },
      { name = "devices", type = "list of numbers", doc = "Numbers that the plan gives to the process's devices on its host, from 0.", example = "#process.devices" },
      { name = "stage", type = "whole number", doc = "Pipeline stage of a worker, from 0.", example = "process.stage" },
      { name = "rank_in_stage", type = "whole number", doc = "Rank of a worker within its pipeline stage, from 0.", example = "process.rank_in_stage" },
      { name = "attempt", type = "text", doc = "Number of the attempt, known at the start.", example = "process.env.TRY = process.attempt" },
      { name = "ports", type = "table", doc = "Numbers of the role's `ports` by name, known at the start.", example = "process.ports.rpc" },
    } },

  { name = "parameters", what = "type", title = "Parameter types", other_names = { "parameter", "types" },
    doc = "Constructors for `params`. The first element of the table is the default; without one the parameter must be given.",
    example = [[
params = {
  layers    = muster.int { 24, min = 1, doc = "transformer layers" },
  optimizer = muster.enum { "adam", one_of = { "adam", "sgd" } },
  token     = muster.secret { from_env = "TOKEN" },
}]],
    fields = {
      { name = "int", type = "whole number", limits = true, declaration = "{ 1 }", doc = "A whole number up to 2⁵³." },
      { name = "float", type = "number", limits = true, declaration = "{ 0.1 }", doc = "A finite number." },
      { name = "bool", type = "true or false", declaration = "{ false }", doc = "A truth value." },
      { name = "string", type = "text", declaration = '{ "text" }', doc = "A text, which is taken verbatim from the command line." },
      { name = "enum", type = "one of `one_of`", declaration = '{ "a", one_of = { "a", "b" } }', doc = "One of the values of `one_of`." },
      { name = "path", type = "path", declaration = '{ "data" }', doc = "A path, which is passed on as written." },
      { name = "list", type = "list", declaration = "{ { 1, 2 } }", doc = "A list; the command line takes JSON (`sizes:=[1,2]`)." },
      { name = "map", type = "map", declaration = "{ { a = 1 } }", doc = "A table with named values; the command line takes JSON." },
      { name = "bytes", type = SIZE, limits = true, declaration = '{ "1GiB" }', doc = "A number of bytes; `GiB` is 2³⁰, `GB` is 10⁹." },
      { name = "duration", type = TIME, limits = true, declaration = '{ "1h" }', doc = "A time, given with its unit; its value is in seconds, so `p.NAME .. \"s\"` is a duration again." },
      { name = "secret", type = "secret", declaration = '{ from_env = "TOKEN" }', doc = "A text that plan, journal and what muster quotes of output do not contain; given as `NAME@=FILE` or by a variable." },
      { name = "variant", type = "one of `one_of`", example = 'muster.variant { "adam", one_of = { adam = { lr = muster.float { 1e-3 } }, sgd = {} } }',
        doc = "A choice between sets of parameters; `p.NAME.variant` is the chosen name." },
    } },

  { name = "options", page = "parameters", what = "option", title = "Options of a parameter", doc = "Fields of a parameter's declaration.",
    example = 'lr = muster.float { 1e-3, above = 0, max = 1, doc = "learning rate", was = "rate", from_env = "LR" }',
    fields = {
      { name = 1, type = "value of the type", default = "none: it must be given", doc = "Default.", example = "muster.int { 4 }" },
      { name = "default", type = "value of the type", doc = "The same with a name.", example = "muster.int { default = 4 }" },
      { name = "min", limits = true, type = "number", doc = "Least value.", example = "min = 1" },
      { name = "max", limits = true, type = "number", doc = "Greatest value.", example = "max = 64" },
      { name = "above", limits = true, type = "number", doc = "Values are greater than this.", example = "above = 0" },
      { name = "below", limits = true, type = "number", doc = "Values are less than this.", example = "below = 1" },
      { name = "one_of", type = "list of values", doc = "All allowed values; of a variant, the parameters of each by its name.", example = 'one_of = { "adam", "sgd" }' },
      { name = "doc", type = "text", doc = "Description, which `muster params` shows.", example = 'doc = "learning rate"' },
      { name = "was", type = "name", doc = "Former name, which still works with a warning.", example = 'was = "rate"' },
      { name = "from_env", type = "name of a variable", doc = "Variable of muster's environment that gives the value; the command line overrides it.", example = 'from_env = "LR"' },
    } },
}
