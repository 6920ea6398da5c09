---@meta _
-- The types of `job` and `process` for editors: roles and their options, hosts and devices.

---@class muster.Cluster
---Number of hosts.
---@field hosts integer
---Devices of the host that has the fewest.
---@field devices_per_host integer
---Devices of each host, in the order of the hosts.
---@field devices_of integer[]
---Devices of all hosts together.
---@field devices integer
---Bytes of this machine's memory.
---@field host_memory integer

---@class muster.Stop
---@field signal? string
---Time between the signal and SIGKILL: "10s".
---@field grace? string|number

---What a process has to do before it counts as ready: one of port, file, line, command and done.
---@class muster.Ready
---Ready when a process of the job listens on this port of its host: one of the role's `ports`, a job:port or a number.
---@field port? string|integer
---Ready when this file exists.
---@field file? string
---Ready when the output contains this text within one line.
---@field line? string
---Ready when this command exits with 0.
---@field command? any
---Ready when the process has exited with 0.
---@field done? true
---Time from the start; a process that is not ready by then has failed. "5m" unless given.
---@field timeout? string|number
---Interval at which the command is tried; "1s" unless given.
---@field every? string|number

---@class muster.Restart
---Maximum number of restarts of the role's processes; one more exit is a failure. With `verdict` 100 unless given.
---@field max? integer
---Only restarts within this time count for max; unless given, those of the whole run.
---@field within? string|number
---Exits that cause a restart: "failure" (default), "always", or a list of exit codes, names of signals and "success".
---@field on? "failure"|"always"|string|integer|(string|integer)[]
---Delay before a restart, doubled by each earlier one that counts, up to a minute; "1s" unless given.
---@field backoff? string|number
---What is restarted: the process that exited (unless given), its role, or the job.
---@field scope? "process"|"role"|"job"
---Restart only what a restart can help, and elsewhere if the host is the cause (muster docs verdicts).
---@field verdict? boolean

---@class muster.RoleLimits
---Run time of each attempt of a process.
---@field time? string|number
---Time in which no process of the role writes any output.
---@field silent? string|number

---@class muster.RoleOptions
---Number of processes in all; workers: one per device unless given.
---@field count? integer
---Number of processes on every host; with `count` the largest number, and hosts are filled in order.
---@field per_host? integer
---Program and arguments; lists inside are flattened, false is omitted.
---@field command? any
---Words put before each process's command: { "strace", "-f" }.
---@field wrap? any
---Variables of the processes.
---@field env? table<string, any>
---Working directory of the processes.
---@field cwd? string
---Number of devices of each process.
---@field devices? integer
---Devices that a process can see: all that the job holds on the host, or only its own.
---@field visible? "job"|"own"
---Processor cores of each process: its equal share, a number of its own, or a list for all of them: "0-7,16-23".
---@field cores? "auto"|integer|string
---Fill hosts one after the other, or spread evenly.
---@field spread? "pack"|"deal"
---Numbers of the hosts that may be used, from 0.
---@field on_hosts? integer|integer[]
---Names of ports that each process gets as process.ports.NAME; other processes find them by job:address.
---@field ports? string|string[]
---@field stop? muster.Stop
---The job waits for all processes of the role ("all"), for one ("any"), or for none because the role serves ("never").
---@field done? "all"|"any"|"never"
---Roles whose processes have to be ready before this role starts.
---@field after? string|string[]
---When a process counts as ready; unless given, when its program runs.
---@field ready? muster.Ready
---When processes are restarted; a number is `{ max = … }`, "verdict" is `{ verdict = true }`. Unless given, they are not.
---@field restart? muster.Restart|integer|"verdict"
---@field limits? muster.RoleLimits
---@field logs? muster.Logs
---Container in which the processes run; false: none, whatever the recipe says.
---@field container? muster.Container|false
---true: scripts get their context applied whatever the command looks like; false: they have to request it.
---@field apply_context? boolean
---Called for each process, whose command, cwd, env and context attributes it may set.
---@field each? fun(process: muster.Process)

---@class muster.NamedRoleOptions : muster.RoleOptions
---What the role is for the framework's contract.
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
---The run directory; its path is known at the start.
---@field run_dir string
---The trial of a sweep: id of the sweep, number, attempt (from 1) and point (JSON) of the trial; empty outside of sweeps.
---@field sweep { id: string, trial: string, attempt: string, point: string }
---`dir`, and `newest`: the checkpoint from which each start continues, if any. Only with `checkpoint` in the recipe.
---@field checkpoint { dir: string, newest: string }
---With --resume: `run`, the id of the run that is continued, and `checkpoint`, its path; nil at a first start.
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

---Steps that prepare a host before its first process, in this order; another call adds steps.
---@class muster.Activation
---Files that a shell reads, as absolute paths.
---@field source? string|string[]
---Environment modules: module load.
---@field module? string|string[]
---A conda environment: conda activate.
---@field conda? string

---Prepares every host once, in one shell; its environment reaches the host's processes.
---@param steps muster.Activation
function Job:activate(steps) end

---Reports an error unless the condition holds, and continues; the message is formatted by string.format.
---@param condition any
---@param message string
---@param ... any
function Job:check(condition, message, ...) end

---Records computed values, which the plan shows, and returns them.
---@generic T : table
---@param values T
---@return T
function Job:derive(values) end

---Ranks along named axes, the last varying fastest: `job:mesh { { "pp", 2 }, { "dp", 4 } }`.
---@param axes table[]
---@return muster.Mesh
function Job:mesh(axes) end

---Writes a file below the run directory before anything starts: `job:file { "train.sh", text = "…" }`, or a value as
---YAML or JSON: `job:file { "train.yaml", yaml = { lr = p.lr } }`.
---@param file { [1]: string, text?: string, yaml?: any, json?: any }
---@return string path known when the job starts
function Job:file(file) end

---@class muster.PortOptions
---Fixed number, which muster does not change.
---@field number? integer
---Number of the host whose port it is; 0 unless given.
---@field host? integer

---Reserves a port of the job: `job:port "metrics"`, or `job:port("metrics", { number = 9000, host = 0 })`. The ports
---of roles must have other names.
---@param name string
---@param options? muster.PortOptions
---@return string number known when the job starts
function Job:port(name, options) end

---@class muster.AddressOptions
---Number of the process within the role; may be omitted if the role has one process.
---@field index? integer
---One of the role's `ports`; may be omitted if the role has one port.
---@field port? string
---Both unless given, the address of the host alone, or the number of the port alone.
---@field part? "host:port"|"host"|"port"

---The address of another role's process: `job:address "store"`, `job:address("server", { index = 1, port = "rpc" })`.
---@param role string
---@param options? muster.AddressOptions
---@return string address known when the job starts
function Job:address(role, options) end

-- Processes --------------------------------------------------------------------------------------------------------

---@class muster.Host
---@field index integer
---@field name string
---@field address string

---The argument of `each`; command, cwd, variables of env and attributes of the context can be set.
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
---Numbers that the plan gives to the process's devices on its host; the actual devices are known at the start.
---@field devices integer[]
---Pipeline stage, and rank within it; workers only.
---@field stage? integer
---@field rank_in_stage? integer
---@field attempt string
---@field ports table<string, string>
---@field command any
---@field cwd string
---One variable is assigned: `process.env.NAME = …`; several are given in a call: `process.env { NAME = … }`.
---@field env table<string, any>|fun(variables: table<string, any>)
---Sets attributes for this process alone, of any function of the context API: `process:context { device_id =
---process.local_rank }`.
---@field context fun(process: muster.Process, attributes: muster.ProcessContext)

---Attributes of the context API by their names.
---@class muster.ProcessContext : muster.SetContext, muster.SetAutoParallelContext, muster.SetPsContext
