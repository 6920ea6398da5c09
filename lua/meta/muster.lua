---@meta muster
-- The recipe API for editors (docs/editors.md): the module "muster", what a plan function gets, and what `each` gets.
-- Written by hand; a test compares its names with those that muster really offers. The attributes of the context API
-- are in context.lua, which is generated.

local muster = {}

-- Recipes ----------------------------------------------------------------------------------------------------------

---@class muster.Recipe
---Names the job and its folder of runs: letters, digits, '_', '-' and '.'.
---@field name string
---One line about what it does.
---@field doc? string
---Whose launch contract the processes get; "none" unless it is given.
---@field framework? "mindspore"|"mindspore-ps"|"mindspore-ranktable"|"torch"|"ps-lite"|"byteps"|"tensorflow"|"jax"|"mpi"|"none"|muster.Contract|muster.Framework
---The MindSpore release whose context API the recipe uses: "1.6", "2.3.1", … (`muster docs releases`).
---@field mindspore? string
---A script that imports another release than that gets its context all the same.
---@field accept_release? boolean
---false: scripts do not get their context applied when they import mindspore, and may ask for it themselves.
---@field apply_context? boolean
---What can be set from outside, by name.
---@field params? muster.Block
---Values by name, chosen with --profile: parameters, hosts and devices_per_host.
---@field profiles? table<string, table<string, any>>
---@field cluster? muster.ClusterDefaults
---@field limits? muster.Limits
---How long logs may become, in roles that do not say so themselves.
---@field logs? muster.Logs
---Where the job writes checkpoints, and how it is asked for one.
---@field checkpoint? muster.Checkpoints|fun(p: table<string, any>): muster.Checkpoints
---Describes the processes of the job and starts nothing. `p` has the parameters' values.
---@field plan fun(p: table<string, any>, job: muster.Job)

---Parameters by name; blocks are inside each other.
---@alias muster.Block table<string, muster.Parameter|muster.Block|table>

---What an extension says otherwise: any field of a recipe. `params` gives values, and declares new parameters; `base` runs
---the plan of what is extended.
---@class muster.Extension
---@field name? string
---@field doc? string
---@field framework? "mindspore"|"mindspore-ps"|"mindspore-ranktable"|"torch"|"ps-lite"|"byteps"|"tensorflow"|"jax"|"mpi"|"none"|muster.Contract|muster.Framework
---@field mindspore? string
---@field accept_release? boolean
---@field apply_context? boolean
---@field params? table<string, any>
---@field profiles? table<string, table<string, any>>
---@field cluster? muster.ClusterDefaults
---@field limits? muster.Limits
---@field logs? muster.Logs
---@field checkpoint? muster.Checkpoints|fun(p: table<string, any>): muster.Checkpoints
---@field plan? fun(p: table<string, any>, job: muster.Job, base: fun(p: table<string, any>, job: muster.Job))

---Where the job's processes write checkpoints.
---@class muster.Checkpoints
---Their folder: absolute, or below the run directory.
---@field dir string
---A pattern of paths below `dir`, or the file there that holds the newest one's path.
---@field latest string|{ file: string }
---A folder counts only once it holds this file.
---@field complete? string
---Sent before the job is stopped: "USR1".
---@field signal? string
---How long the stop waits for a new checkpoint; "30s" unless given.
---@field wait? string|number
---Who gets the signal; the workers unless given.
---@field roles? string|string[]

---A recipe as a value: it can be extended, and is what a recipe file returns.
---@class muster.RecipeValue
---@field extend fun(self: muster.RecipeValue, extension: muster.Extension): muster.RecipeValue

---A launch contract with options of its own: `framework = { "mindspore-ps", form = "minimal" }`.
---@class muster.Framework
---@field [1] "mindspore"|"mindspore-ps"|"mindspore-ranktable"|"torch"|"ps-lite"|"byteps"|"tensorflow"|"jax"|"mpi"|"none"|muster.Contract
---mindspore-ps: "minimal" sets only the variables that the job cannot do without; "named" unless it is given.
---@field form? "named"|"minimal"
---mindspore: whether processes that are started again may register again; "auto": where a role has a restart.
---@field recovery? "auto"|"on"|"off"
---mindspore-ranktable: the format of the table that muster writes; "1.0" unless given.
---@field version? "1.0"|"1.1"|"1.2"
---mindspore-ranktable: one for each host, { id = "192.0.2.11", devices = { "198.51.100.1", … } }; `first = 4` where the first is device 4.
---@field servers? table[]
---mindspore-ranktable: a table beside the recipe.
---@field table? string
---tensorflow: whose end is the job's.
---@field ends? "auto"|"workers"|"coordinator"
---tensorflow: whether the evaluator is in the cluster.
---@field evaluator? "apart"|"listed"
---tensorflow: the first port on each host.
---@field port? integer
---jax: a cluster that JAX finds by itself.
---@field imitate? "nothing"|"slurm"
---mpi: who starts the ranks; "mpirun" unless given.
---@field start? "mpirun"|"srun"|"variables"
---mpi: further words for mpirun or srun.
---@field args? string[]
---mpi: what srun --mpi= names; "pmix" unless given.
---@field pmi? string

---@class muster.ClusterDefaults
---@field hosts? integer
---Of hosts that say nothing of their own: what this machine has, or 1, unless given.
---@field devices_per_host? integer
---The hosts by name instead of their number: `{ "n[01-04]:8", "n5:4" }`.
---@field host_list? string|string[]
---Of which kind they are, where no `device_target` of the context tells.
---@field device_kind? "ascend"|"cuda"|"hip"
---Other runs that say the same may have the job's devices at the same time.
---@field share_devices? boolean

---@class muster.Limits
---Run limit of the whole job: seconds, or "90s", "12h", "1d12h".
---@field time? string|number
---From the first start until every process is ready.
---@field start? string|number
---How long no process of the job may write anything.
---@field silent? string|number

---@class muster.Logs
---How long each log may become: bytes, or "64MiB", "1GiB"; then it loses its beginning. At least 1MiB.
---@field max? string|integer
---A role of a contract.
---@class muster.ContractRole
---@field min? integer
---@field max? integer
---"never": it serves, and has `linger` seconds once all others have ended.
---@field done? "all"|"any"|"never"
---@field linger? integer
---Where the recipe describes none, one is added that runs the command of the role that plays this.
---@field add? string
---For roles that have no command of their own.
---@field command? string[]
---Ports that each of its processes gets.
---@field ports? string[]
---@field devices? integer
---@field doc? string

---What a framework wants to find in the environment of its processes (docs/environment.md).
---@class muster.Contract
---@field name string
---@field doc? string
---@field notes? string[]
---@field source? string
---@field ends? string
---@field derives? string
---@field example? string
---@field roles table<string, muster.ContractRole>
---"many": workers may be in several worlds, each with its own ranks and rendezvous endpoint.
---@field worlds? "many"
---Whose host and which port all processes meet at.
---@field meeting? { role: string, port: string, avoid?: any[] }
---Inherited variables that no process may see: NAME or PREFIX*.
---@field clear? string[]
---What is told of each variable: { NAME, who, what }.
---@field variables? string[][]
---Names that nobody reads, and why.
---@field absent? table<string, string>
---true: processes are told their devices by the numbers of the host, so that no variable hides the others.
---@field names_devices? boolean
---Words that a recipe may choose from, the first one if it does not.
---@field options? table<string, any>
---@field ports? table<string, string>
---@field context? boolean
---Reports what the framework cannot do, by job.report(message, hint).
---@field check? fun(job: table)
---After placement; its result is job.prepared.
---@field prepare? fun(job: table): any
---Variables of a role that the recipe may say otherwise.
---@field defaults? fun(role: table, job: table): table<string, any>?
---Variables that all processes of a role share.
---@field common? fun(role: table, job: table): table<string, any>?
---Variables of one process; "" sets to nothing.
---@field env? fun(process: table, job: table): table<string, any>?

---A contract of one's own, for `framework`.
---@param contract muster.Contract
---@return any
function muster.contract(contract) end

---What a recipe file returns.
---@param recipe muster.Recipe
---@return muster.RecipeValue
function muster.recipe(recipe) end

---What a site file may say: facts about machines, never parameters (docs/site.md). Paths are relative to the file.
---@class muster.Site
---@field hosts? string|string[] the hosts that there are: "n[01-16]:8"
---@field hostfile? string a file that names them instead
---@field devices? integer of a host without a number of its own
---@field memory? string|integer of a host: "512GiB"
---@field transport? "ssh"|"local"
---@field environment? muster.SiteEnvironment what processes inherit
---@field run_root? string runs/ is below it
---@field access? "user"|"group" who may read run directories
---@field libraries? table<string, string> folders of recipes by name: { acme = "libraries/acme" }
---@field rules? string a file that returns function(plan, check, warn)

---Done in this order.
---@class muster.SiteEnvironment
---@field pass? string[] NAME or PREFIX_*: nothing else is inherited, but PATH
---@field unset? string[] NAME or PREFIX_*
---@field set? table<string, string|number>

---What muster.site.lua returns.
---@param facts muster.Site
---@return any
function muster.site(facts) end

---The recipe of a file beside this one: `muster.load("gpt.lua"):extend { … }`; "@acme/gpt" is one of a library.
---@param name string
---@return muster.RecipeValue
function muster.load(name) end

-- Parameters -------------------------------------------------------------------------------------------------------

---What a constructor such as muster.int returns; its value is found in `p`.
---@class muster.Parameter

---The first element is the default: `muster.int { 4, min = 1, doc = "…" }`. Without one the parameter has to be given.
---@class muster.ParameterDeclaration
---@field [1]? any
---@field default? any
---@field min? number|string
---@field max? number|string
---Strictly greater.
---@field above? number|string
---Strictly less.
---@field below? number|string
---@field one_of? any[]
---@field doc? string
---Its former name, which still works with a warning.
---@field was? string
---A variable of muster's environment that sets it, weaker than the command line.
---@field from_env? string

---A whole number.
---@param declaration? muster.ParameterDeclaration|integer
---@return muster.Parameter
function muster.int(declaration) end

---A number.
---@param declaration? muster.ParameterDeclaration|number
---@return muster.Parameter
function muster.float(declaration) end

---true or false.
---@param declaration? muster.ParameterDeclaration|boolean
---@return muster.Parameter
function muster.bool(declaration) end

---A text.
---@param declaration? muster.ParameterDeclaration|string
---@return muster.Parameter
function muster.string(declaration) end

---One of the values of `one_of`.
---@param declaration muster.ParameterDeclaration
---@return muster.Parameter
function muster.enum(declaration) end

---A path; it is passed on as it is written.
---@param declaration? muster.ParameterDeclaration|string
---@return muster.Parameter
function muster.path(declaration) end

---A list; its default stands in the declaration: `muster.list { { 1, 2 } }`.
---@param declaration? muster.ParameterDeclaration
---@return muster.Parameter
function muster.list(declaration) end

---A map; its default stands in the declaration: `muster.map { { a = 1 } }`.
---@param declaration? muster.ParameterDeclaration
---@return muster.Parameter
function muster.map(declaration) end

---A number of bytes: "30GiB", "3.5GB" or a number.
---@param declaration? muster.ParameterDeclaration|string|number
---@return muster.Parameter
function muster.bytes(declaration) end

---A time in seconds: "90s", "12h", "1d12h" or a number.
---@param declaration? muster.ParameterDeclaration|string|number
---@return muster.Parameter
function muster.duration(declaration) end

---A secret: it never reaches plan, journal or log. Given as NAME@=FILE or taken from a variable (`from_env`).
---@param declaration? muster.ParameterDeclaration
---@return muster.Parameter
function muster.secret(declaration) end

---@class muster.VariantDeclaration
---The variant that is chosen unless somebody chooses another one.
---@field [1]? string
---The parameters of each variant by its name.
---@field one_of table<string, muster.Block>
---@field doc? string
---@field was? string
---@field from_env? string

---A choice between sets of parameters; `p.NAME.variant` is the name of the one that is chosen:
---`muster.variant { "adam", one_of = { adam = { lr = muster.float { 1e-3 } }, sgd = { lr = muster.float { 0.1 } } } }`.
---@param declaration muster.VariantDeclaration
---@return muster.Parameter
function muster.variant(declaration) end

-- Values -----------------------------------------------------------------------------------------------------------

---The explicit null.
---@type any
muster.null = nil

---Removes an inherited variable: `env = { LD_PRELOAD = muster.unset }`.
---@type any
muster.unset = nil

---An exact division, or an error that names all its numbers:
---`muster.exact_div { devices = n, by = { pipeline_stages = pp, tensor_parallel_size = tp } }`.
---@param division table<string, any>
---@return integer
function muster.exact_div(division) end

---Bytes as text in a unit: `muster.size(p.device_memory, "GB")` is "30GB".
---@param bytes number
---@param unit string
---@return string
function muster.size(bytes, unit) end

---@class muster.FlagOptions
---argparse: --lr 0.5 --verbose; hydra: lr=0.5 verbose=true.
---@field style? "argparse"|"hydra"
---@field only? string[]
---@field except? string[]

---Parameters as words of a command.
---@param parameters table<string, any>
---@param options? muster.FlagOptions
---@return string[]
function muster.flags(parameters, options) end

---The only way to a shell: the command is one text, run as /bin/sh -c TEXT.
---@param text string
---@return any
function muster.shell(text) end

---A file beside the recipe, as an absolute path.
---@param name string
---@return string
function muster.here(name) end

---A text file beside the recipe, taken into the plan and written below the run directory: its absolute path there.
---JSON that an attribute names is checked: `context.set_ps_context { config_file_path = muster.file "ps.json" }`.
---@param name string
---@return string
function muster.file(name) end

---A JSON file beside the recipe as a value; null is muster.null.
---@param name string
---@return any
function muster.read_json(name) end

---A YAML file (1.2, one document) beside the recipe as a value; null is muster.null.
---@param name string
---@return any
function muster.read_yaml(name) end

-- The job ----------------------------------------------------------------------------------------------------------

---@class muster.Cluster
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
---@field hosts? integer|integer[]
---Names of ports that each process gets: process.ports.NAME.
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

---A role of any name: `job:role "evaluator" { command = { … } }`.
---@param name string
---@return fun(options: muster.NamedRoleOptions)
function Job:role(name) end

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

---A port that is found and held at start: `job:port "metrics"`, or `job:port { "metrics", number = 9000, host = 0 }`, whose
---number is never changed.
---@param port string|{ [1]: string, number?: integer, host?: integer }
---@return string number known when the job starts
function Job:port(port) end

-- Processes --------------------------------------------------------------------------------------------------------

---@class muster.Host
---@field index integer
---@field name string
---@field address string

---What `each` gets; command, cwd and variables of env can be set.
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

-- Sweeps -----------------------------------------------------------------------------------------------------------

---What a sweep file returns (docs/sweeps.md).
---@class muster.Sweep
---Names folders; the recipe's name unless given.
---@field name? string
---@field doc? string
---What every trial runs: `muster.load "gpt.lua"`, or a recipe of the same file.
---@field recipe muster.RecipeValue
---Values that are the same in all trials, `hosts` and `devices_per_host` too.
---@field fixed? table<string, any>
---The points: a table of axes by the names of parameters, or muster.product, zip, union.
---@field space table
---Which points are worth it: `d` has the derived values, hosts, devices and device_num; also gives the reason.
---@field where? fun(p: table<string, any>, d: table<string, any>): boolean, string?
---Every point in order, unless given.
---@field sampler? muster.Sampler
---@field objective? muster.Objective
---@field metrics? muster.SweepMetrics
---@field early_stop? muster.EarlyStop
---@field retry? muster.SweepRetry
---@field budget? muster.SweepBudget

---@class muster.SweepMetrics
---By metric: an RE2 pattern with one group, looked for in each line of the log.
---@field stdout? table<string, string>
---Whose first process's log is read; the role of rank 0 unless given.
---@field role? string
---A file of one JSON object that is read at the end.
---@field result? string

---@alias muster.FailureClass "oom_device"|"oom_host"|"diverged"|"timeout"|"host_lost"|"preempted"|"user_error"|"crash"|"stalled"|"no_result"

---@class muster.SweepRetry
---Attempts of a trial beyond the first; 0 unless given.
---@field max? integer
---@field on? muster.FailureClass|muster.FailureClass[]
---Failures in a row on a host; 2 unless given, 0: never.
---@field quarantine_host_after? integer
---By class: a pattern that the last lines of the first failure are looked through for.
---@field patterns? table<muster.FailureClass, string>

---@class muster.SweepBudget
---At once, over all trials.
---@field devices? integer
---No trial is started after it: seconds, or "36h".
---@field time? string|number
---That are started at most.
---@field trials? integer
---Trials at once.
---@field slots? integer
---Trials at once on a device; 1 unless given.
---@field per_device? integer

---@class muster.Axis
---@class muster.Space
---@class muster.Sampler
---@class muster.Objective
---@class muster.EarlyStop

---@class muster.Asha
---The metric that counts how far a trial is; "step" unless given.
---@field resource? string
---@field min? number
---@field max? number
---@field eta? number
---Until so many are there, all go on.
---@field min_results? integer

---@class muster.MedianRule
---@field resource? string
---@field warmup? number
---@field min_finished? integer

---@param sweep muster.Sweep
---@return any
function muster.sweep(sweep) end

---Each of some values: `muster.choice { 1, 2, 4 }`; in a space a plain list says the same.
---@param values any[]
---@return muster.Axis
function muster.choice(values) end

---low, low + step, … to high; steps of 1 unless given. Ends may be texts that the parameter reads: "1GiB".
---@param low number|string
---@param high number|string
---@param step? number|string
---@return muster.Axis
function muster.range(low, high, step) end

---The same with a step that has to be given.
---@param low number|string
---@param high number|string
---@param step number|string
---@return muster.Axis
function muster.quantised(low, high, step) end

---Any number from low to below high.
---@param low number|string
---@param high number|string
---@return muster.Axis
function muster.uniform(low, high) end

---The same, as many between 1 and 10 as between 10 and 100.
---@param low number|string
---@param high number|string
---@return muster.Axis
function muster.log_uniform(low, high) end

---Each whole number from low to high.
---@param low number|string
---@param high number|string
---@return muster.Axis
function muster.int_uniform(low, high) end

---@param low number|string
---@param high number|string
---@return muster.Axis
function muster.int_log_uniform(low, high) end

---Each with each of the others.
---@param entries table
---@return muster.Space
function muster.product(entries) end

---The n-th of each together; all have as many.
---@param entries table
---@return muster.Space
function muster.zip(entries) end

---Those of the first space, then those of the second, …
---@param spaces table[]
---@return muster.Space
function muster.union(spaces) end

---The space counts for points in which the condition holds: `muster.when({ optimizer = "adam" }, { … })`.
---@param condition table<string, any>
---@param space table
---@return muster.Space
function muster.when(condition, space) end

---Every point, in order.
---@param options? { trials?: integer }
---@return muster.Sampler
function muster.grid(options) end

---@param options { seed?: integer, trials?: integer }
---@return muster.Sampler
function muster.random(options) end

---Points that fill the space evenly; a power of two is best.
---@param options { seed?: integer, trials: integer, scramble?: boolean }
---@return muster.Sampler
function muster.sobol(options) end

---@param metric string
---@return muster.Objective
function muster.minimize(metric) end

---@param metric string
---@return muster.Objective
function muster.maximize(metric) end

---Successive halving: at min, min·eta, … a trial goes on while it is among the best 1/eta.
---@param options muster.Asha
---@return muster.EarlyStop
function muster.asha(options) end

---A trial is stopped that is worse than the median of those that finished.
---@param options muster.MedianRule
---@return muster.EarlyStop
function muster.median(options) end

return muster
