---@meta _
-- What a plan function gets as `job` and `each` as `process`, for editors: roles and their options, and where they run.

---@class muster.Cluster
---How many.
---@field hosts integer
---Of the host that has the fewest.
---@field devices_per_host integer
---Of each host, from the first.
---@field devices_of integer[]
---Of all hosts together.
---@field devices integer
---Bytes of this machine's memory.
---@field host_memory integer

---@class muster.Stop
---@field signal? string
---Time between the signal and SIGKILL: "10s".
---@field grace? string|number

---What a process has to do before it counts as ready: one of port, file, line, command and done.
---@class muster.Ready
---Somebody listens at this port of its host: one of the role's `ports`, a job:port or a number.
---@field port? string|integer
---There is a file at this path.
---@field file? string
---Its output holds this text within one line.
---@field line? string
---This command exits with 0.
---@field command? any
---It has exited with 0.
---@field done? true
---From its start; later it has failed. "5m" unless given.
---@field timeout? string|number
---How often the command is tried; "1s" unless given.
---@field every? string|number

---@class muster.Restart
---How often processes of the role are started again at most; one more end is a failure.
---@field max integer
---Only restarts within this time count for max; unless given, those of the whole run.
---@field within? string|number
---Which ends: "failure" (unless given), "always", or a list of exit codes, names of signals and "success".
---@field on? "failure"|"always"|string|integer|(string|integer)[]
---Time before a restart, doubled for every earlier one that counts, up to a minute; "1s" unless given.
---@field backoff? string|number
---What is started again: the one that ended (unless given), its role, or the job.
---@field scope? "process"|"role"|"job"

---@class muster.RoleLimits
---How long each of its processes may run.
---@field time? string|number
---How long all of its processes together may write nothing.
---@field silent? string|number

---@class muster.RoleOptions
---Processes in all; workers: one per device unless given.
---@field count? integer
---Processes on every host, instead of `count`.
---@field per_host? integer
---Program and arguments; lists inside are flattened, false is left out.
---@field command? any
---Words put before each process's command: { "strace", "-f" }.
---@field wrap? any
---Variables of its processes.
---@field env? table<string, any>
---Folder in which they run.
---@field cwd? string
---Devices of each process.
---@field devices? integer
---What each process sees: every device that the job holds on the host, or its own only.
---@field visible? "job"|"own"
---Processor cores of each process: its equal share, a number of its own, or a list for all of them: "0-7,16-23".
---@field cores? "auto"|integer|string
---Fill hosts one after the other, or spread evenly.
---@field spread? "pack"|"deal"
---Numbers of the hosts that may be used, from 0.
---@field on_hosts? integer|integer[]
---Names of ports that each process gets: process.ports.NAME; others find them by job:address.
---@field ports? string|string[]
---@field stop? muster.Stop
---Whether the job waits for all of them ("all") or for one ("any"), or they serve until the others have ended ("never").
---@field done? "all"|"any"|"never"
---Roles whose processes have to be ready before its own start.
---@field after? string|string[]
---When a process of it counts as ready; unless given, as soon as its program runs.
---@field ready? muster.Ready
---Whether its processes are started again when they end; a number is `{ max = … }`. Unless given, they are not.
---@field restart? muster.Restart|integer
---@field limits? muster.RoleLimits
---@field logs? muster.Logs
---true: its scripts get their context applied whatever the command looks like; false: they have to ask for it.
---@field apply_context? boolean
---Called for each process; may set command, cwd, env and context attributes of this process.
---@field each? fun(process: muster.Process)

---@class muster.NamedRoleOptions : muster.RoleOptions
---What it is to the framework's contract.
---@field as? "scheduler"|"server"|"worker"|"chief"|"evaluator"|"other"|string
---Processes of one world are ranked together, across roles.
---@field world? string

---@class muster.Mesh
---@field size integer
---@field coords fun(mesh: muster.Mesh, rank: integer): table<string, integer>
---@field rank fun(mesh: muster.Mesh, coords: table<string, integer>): integer

---@class muster.Job
---@field cluster muster.Cluster
---The words after -- on the command line.
---@field args string[]
---The run directory, known when the job starts.
---@field run_dir string
---Of a trial of a sweep: the sweep's id, the trial's number, its attempt (from 1) and its point as JSON; empty texts outside a sweep.
---@field sweep { id: string, trial: string, attempt: string, point: string }
---`dir`, and `newest`: the checkpoint that each start goes on from, or nothing. Only with `checkpoint` in the recipe.
---@field checkpoint { dir: string, newest: string }
---With --resume: `run`, whose checkpoint it is, and `checkpoint`, its path; nil at a first start.
---@field resume? { run: string, checkpoint: string }
local Job = {}

---The role "scheduler".
---@param options muster.RoleOptions
function Job:scheduler(options) end

---The role "servers".
---@param options muster.RoleOptions
function Job:servers(options) end

---The role "workers".
---@param options muster.RoleOptions
function Job:workers(options) end

---A role of any name: `job:role "evaluator" { command = { … } }`, or with its options as second argument.
---@param name string
---@param options? muster.NamedRoleOptions
---@return fun(options: muster.NamedRoleOptions)
function Job:role(name, options) end

---Variables of all processes.
---@param variables table<string, any>
function Job:env(variables) end

---What a host needs before the first process is started there, in this order; called again it adds.
---@class muster.Activation
---Files that a shell reads, as absolute paths.
---@field source? string|string[]
---Environment modules: module load.
---@field module? string|string[]
---A conda environment: conda activate.
---@field conda? string

---Done once on every host, in one shell; what it changes in the environment reaches the host's processes.
---@param steps muster.Activation
function Job:activate(steps) end

---Reports an error unless the condition holds, and goes on; the message is formatted as by string.format.
---@param condition any
---@param message string
---@param ... any
function Job:check(condition, message, ...) end

---Computed values, shown with the plan; gives them back.
---@generic T : table
---@param values T
---@return T
function Job:derive(values) end

---Ranks along named axes, the last varying fastest: `job:mesh { { "pp", 2 }, { "dp", 4 } }`.
---@param axes table[]
---@return muster.Mesh
function Job:mesh(axes) end

---A file written below the run directory before anything starts: `job:file { "train.sh", text = "…" }`, or a value as YAML or
---JSON: `job:file { "train.yaml", yaml = { lr = p.lr } }`.
---@param file { [1]: string, text?: string, yaml?: any, json?: any }
---@return string path known when the job starts
function Job:file(file) end

---@class muster.PortOptions
---A number that is never changed.
---@field number? integer
---The number of the host whose port it is; 0 unless given.
---@field host? integer

---A port that is found and held at start: `job:port "metrics"`, or `job:port("metrics", { number = 9000, host = 0 })`. Ports
---of roles have other names.
---@param name string
---@param options? muster.PortOptions
---@return string number known when the job starts
function Job:port(name, options) end

---@class muster.AddressOptions
---The number of the process within the role; may be left out where it has one.
---@field index? integer
---One of the role's `ports`; may be left out where it has one.
---@field port? string
---Both unless given, or one of them alone.
---@field part? "host:port"|"host"|"port"

---Where a process of another role listens: `job:address "store"`, or `job:address("server", { index = 1, port = "rpc" })`.
---@param role string
---@param options? muster.AddressOptions
---@return string address known when the job starts
function Job:address(role, options) end

-- Processes --------------------------------------------------------------------------------------------------------

---@class muster.Host
---@field index integer
---@field name string
---@field address string

---What `each` gets; command, cwd, variables of env and attributes of the context can be set.
---@class muster.Process
---"scheduler", "server", "worker" or "other"
---@field role string
---Number within the role, from 0.
---@field index integer
---Number within the world; nil for roles without ranks.
---@field rank? integer
---@field local_rank integer
---@field world_size integer
---@field local_size integer
---@field host muster.Host
---The plan's numbers for its devices on the host; what they are called there is known at the start.
---@field devices integer[]
---Pipeline stage, and rank within it; workers only.
---@field stage? integer
---@field rank_in_stage? integer
---@field attempt string
---@field ports table<string, string>
---@field command any
---@field cwd string
---One variable: `process.env.NAME = …`; several: `process.env { NAME = … }`.
---@field env table<string, any>|fun(variables: table<string, any>)
---Attributes of this process alone, of any function of the context API: `process:context { device_id = process.local_rank }`.
---@field context fun(process: muster.Process, attributes: muster.ProcessContext)

---Attributes of the context API by their names.
---@class muster.ProcessContext : muster.SetContext, muster.SetAutoParallelContext, muster.SetPsContext
