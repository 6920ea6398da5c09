---@meta muster
-- The recipe API for editors (`muster docs editors`): the module "muster" with its recipes, contracts and parameters. The
-- types of plan functions and of `each` are in job.lua, sweeps in sweep.lua, the context API in context.lua and options of
-- engines in engines.lua, which are generated. The other files are written by hand; a test compares their names with muster's API.

---@class muster
local muster = {}

-- Recipes ----------------------------------------------------------------------------------------------------------

---@class muster.Recipe
---Names the job and its folder of runs: letters, digits, '_', '-' and '.'.
---@field name string
---One line that says what the recipe does.
---@field doc? string
---Version of the recipe, which becomes the derived value `version` of its plans.
---@field version? string
---Launch contract whose variables the processes get; "none" unless given.
---@field framework? "mindspore"|"mindspore-ps"|"mindspore-ranktable"|"torch"|"ps-lite"|"byteps"|"tensorflow"|"jax"|"mpi"|"none"|muster.Contract|muster.Framework
---The MindSpore release whose context API the recipe uses: "1.6", "2.3.1", … (`muster docs releases`).
---@field mindspore? string
---Applies the context also in scripts that import another release than `mindspore`.
---@field accept_release? boolean
---false: scripts do not get their context applied when they import MindSpore, and have to request it.
---@field apply_context? boolean
---Parameters by name.
---@field params? muster.Block
---Named sets of values that --profile selects: parameters, hosts and devices_per_host.
---@field profiles? table<string, table<string, any>>
---@field cluster? muster.ClusterDefaults
---@field limits? muster.Limits
---Size limit of logs, for roles without one of their own.
---@field logs? muster.Logs
---Container in which the processes of all roles run.
---@field container? muster.Container
---Where the job writes checkpoints, and the signal that requests one.
---@field checkpoint? muster.Checkpoints|fun(p: table<string, any>): muster.Checkpoints
---Metrics that are read from a log: RE2 patterns with one group by metric; `role` says whose log, `stdout` has further ones.
---@field metrics? table<string, string|table<string, string>>
---Commands and webhooks that are notified of events.
---@field notify? muster.Notify|muster.Notify[]|false|fun(p: table<string, any>): muster.Notify|muster.Notify[]|false
---Options of engines for `--on NAME`.
---@field slurm? muster.Slurm
---@field pbs? muster.Pbs
---@field lsf? muster.Lsf
---@field flux? muster.Flux
---@field gridengine? muster.GridEngine
---@field kubernetes? muster.Kubernetes
---Describes the processes of the job and starts none. `p` has the parameters' values.
---@field plan fun(p: table<string, any>, job: muster.Job)

---Parameters by name; tables inside are blocks.
---@alias muster.Block table<string, muster.Parameter|muster.Block|table>

---Fields that an extension replaces: any field of a recipe. `params` sets values and declares new parameters; `base`
---calls the plan function of the extended recipe.
---@class muster.Extension
---@field name? string
---@field doc? string
---@field version? string
---@field framework? "mindspore"|"mindspore-ps"|"mindspore-ranktable"|"torch"|"ps-lite"|"byteps"|"tensorflow"|"jax"|"mpi"|"none"|muster.Contract|muster.Framework
---@field mindspore? string
---@field accept_release? boolean
---@field apply_context? boolean
---@field params? table<string, any>
---@field profiles? table<string, table<string, any>>
---@field cluster? muster.ClusterDefaults
---@field limits? muster.Limits
---@field logs? muster.Logs
---@field container? muster.Container
---@field checkpoint? muster.Checkpoints|fun(p: table<string, any>): muster.Checkpoints
---Metrics that are read from a log: RE2 patterns with one group by metric; `role` says whose log, `stdout` has further ones.
---@field metrics? table<string, string|table<string, string>>
---Commands and webhooks that are notified of events.
---@field notify? muster.Notify|muster.Notify[]|false|fun(p: table<string, any>): muster.Notify|muster.Notify[]|false
---@field slurm? muster.Slurm
---@field pbs? muster.Pbs
---@field lsf? muster.Lsf
---@field flux? muster.Flux
---@field gridengine? muster.GridEngine
---@field kubernetes? muster.Kubernetes
---@field plan? fun(p: table<string, any>, job: muster.Job, base: fun(p: table<string, any>, job: muster.Job))

---Where the job's processes write checkpoints.
---@class muster.Checkpoints
---Their folder: absolute, or below the run directory.
---@field dir string
---Pattern of paths below `dir`, or a file there that holds the path of the newest checkpoint.
---@field latest string|{ file: string }
---A checkpoint that is a folder counts only if it contains this file.
---@field complete? string
---Signal that requests a checkpoint before the job is stopped: "USR1".
---@field signal? string
---How long the stop waits for the requested checkpoint; "30s" unless given.
---@field wait? string|number
---Roles whose processes get the signal; the workers unless given.
---@field roles? string|string[]

---Who is notified of events of a run or sweep: either `command` or `webhook`.
---@class muster.Notify
---Run once per event, with one JSON object on stdin.
---@field command? any
---Address to which curl posts the JSON object.
---@field webhook? string|muster.Parameter|{ from_env?: string, from_file?: string }
---Variables of the command; values may be secrets.
---@field env? table<string, string|number|muster.Parameter|{ from_env?: string, from_file?: string }>
---Events that are notified; "ended" unless given.
---@field on? muster.NotifyEvent|muster.NotifyEvent[]
---@alias muster.NotifyEvent "started"|"first_result"|"restarted"|"best"|"trial_failed"|"failed"|"ended"

---The value that a recipe file returns; it can be extended.
---@class muster.RecipeValue
---@field extend fun(self: muster.RecipeValue, extension: muster.Extension): muster.RecipeValue

---A launch contract with options of its own: `framework = { "mindspore-ps", form = "minimal" }`.
---@class muster.Framework
---@field [1] "mindspore"|"mindspore-ps"|"mindspore-ranktable"|"torch"|"ps-lite"|"byteps"|"tensorflow"|"jax"|"mpi"|"none"|muster.Contract
---mindspore-ps: "minimal" sets only the variables that the job needs; "named" unless given.
---@field form? "named"|"minimal"
---mindspore: whether restarted processes can register again; "auto": if a role has a restart.
---@field recovery? "auto"|"on"|"off"
---mindspore-ranktable: format of the table that muster writes; "1.0" unless given.
---@field version? "1.0"|"1.1"|"1.2"
---mindspore-ranktable: one entry per host, { id = "192.0.2.11", devices = { "198.51.100.1", … } }; `first = 4` if the
---first is device 4.
---@field servers? table[]
---mindspore-ranktable: a table beside the recipe, instead of `servers`.
---@field table? string
---tensorflow: which processes end the job when they exit.
---@field ends? "auto"|"workers"|"coordinator"
---tensorflow: whether the evaluator is in the cluster.
---@field evaluator? "apart"|"listed"
---tensorflow: the first port on each host.
---@field port? integer
---jax: a cluster that JAX detects by itself.
---@field imitate? "nothing"|"slurm"
---mpi: how the ranks are started; "mpirun" unless given.
---@field start? "mpirun"|"srun"|"variables"
---mpi: further arguments of mpirun or srun.
---@field args? string[]
---mpi: value of srun --mpi=; "pmix" unless given.
---@field pmi? string

---@class muster.ClusterDefaults
---Number of hosts.
---@field hosts? integer
---Devices of hosts that give no number of their own: unless given, those of this machine, or 1.
---@field devices_per_host? integer
---The hosts by name instead of their number: `{ "n[01-04]:8", "n5:4" }`.
---@field host_list? string|string[]
---Kind of the devices, if no `device_target` of the context determines it.
---@field device_kind? "ascend"|"cuda"|"hip"
---Lets other runs with the same setting use the devices at the same time.
---@field share_devices? boolean

---@class muster.Limits
---Run time of the whole job: "90s", "12h", "1d12h".
---@field time? string|number
---Time from the first start until every process is ready.
---@field start? string|number
---Time in which no process of the job writes any output.
---@field silent? string|number

---@class muster.Logs
---Size of each log: bytes, or "64MiB", "1GiB"; a log that exceeds it loses its beginning. At least 1MiB.
---@field max? string|integer

---A role takes the fields that it does not set from the recipe.
---@class muster.Container
---Image, as the runtime names it.
---@field image? string
---Program that runs the container on each host; "podman" unless given.
---@field runtime? "podman"|"apptainer"|"docker"|"enroot"
---Paths of the host that the processes find in the container: "/path", "/path:/in/container", with ":ro" at the end.
---@field mounts? string|string[]
---Further options of the runtime.
---@field options? string|string[]

---A role of a contract.
---@class muster.ContractRole
---@field min? integer
---@field max? integer
---"never": the role serves, and has the time `linger` ("35s") after all other roles have ended.
---@field done? "all"|"any"|"never"
---@field linger? string
---If the recipe describes no such role, one is added that runs the command of the role that plays this.
---@field add? string
---Command for roles that have none of their own.
---@field command? string[]
---Ports that each of its processes gets.
---@field ports? string[]
---@field devices? integer
---@field doc? string

---A variable of a contract; `muster rehearse` compares one that says what it `is` with the plan.
---@class muster.ContractVariable
---@field [1] string
---@field [2] string
---@field [3]? string
---"count": processes `of` a role; "worker_hosts": hosts with workers; "role": the role's word; "address" and "port", or
---both as "endpoint": of the rendezvous endpoint; "tasks": TensorFlow's JSON.
---@field is? "rank"|"world_size"|"local_rank"|"local_size"|"count"|"worker_hosts"|"role"|"tasks"|"address"|"port"|"endpoint"
---Role that is counted, or that listens at the rendezvous endpoint; that of `meeting` unless given.
---@field of? string
---Words of "role", by role; a role that is missing is its own word.
---@field words? table<string, string>
---true: an option of the contract may omit it.
---@field optional? boolean

---What a framework requires in the environment of its processes (`muster docs environment`).
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
---Role and port of the process at which all processes meet (the rendezvous endpoint).
---@field meeting? { role: string, port: string, avoid?: any[] }
---Inherited variables that no process may see: NAME or PREFIX*.
---@field clear? string[]
---Each variable: { NAME, processes that get it ("all" or roles), meaning, is = … }.
---@field variables? muster.ContractVariable[]
---Names that no program reads, and why.
---@field absent? table<string, string>
---true: processes get their devices by the numbers of the host, so no variable hides other devices.
---@field names_devices? boolean
---Words that a recipe may choose from; the first one is the default.
---@field options? table<string, any>
---@field ports? table<string, string>
---@field context? boolean
---Reports what the framework cannot do, by job.report(message, hint).
---@field check? fun(job: table)
---What workers without devices are that exceed the slots of named hosts: "error", "none", or nil for a warning.
---@field slots? fun(option: table): "error"|"none"|nil
---After placement; its result is job.prepared.
---@field prepare? fun(job: table): any
---Variables of a role that the recipe may override.
---@field defaults? fun(role: table, job: table): table<string, any>?
---Variables that all processes of a role share.
---@field common? fun(role: table, job: table): table<string, any>?
---Variables of one process; "" sets a variable to the empty text.
---@field env? fun(process: table, job: table): table<string, any>?

---A contract of the recipe's own, for `framework`.
---@param contract muster.Contract
---@return any
function muster.contract(contract) end

---What a recipe file returns.
---@param recipe muster.Recipe
---@return muster.RecipeValue
function muster.recipe(recipe) end

---Facts about machines in a site file, never parameters (`muster docs site`). Paths are relative to the file.
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
---@field notify? muster.Notify|muster.Notify[] who is notified of events of every run and sweep
---@field slurm? muster.Slurm options of engines for `--on NAME`
---@field pbs? muster.Pbs
---@field lsf? muster.Lsf
---@field flux? muster.Flux
---@field gridengine? muster.GridEngine
---@field kubernetes? muster.Kubernetes

---Applied in this order.
---@class muster.SiteEnvironment
---@field pass? string[] NAME or PREFIX_*: nothing else is inherited, but PATH
---@field unset? string[] NAME or PREFIX_*
---@field set? table<string, string|number>

---What muster.site.lua returns.
---@param facts muster.Site
---@return any
function muster.site(facts) end

---The recipe of a file beside this one: `muster.load("gpt.lua"):extend { … }`; "@acme/gpt" is a recipe of a library.
---@param name string
---@return muster.RecipeValue
function muster.load(name) end

-- Parameters -------------------------------------------------------------------------------------------------------

---A declared parameter, as constructors such as muster.int return it; its value is in `p`.
---@class muster.Parameter

---The first element is the default: `muster.int { 4, min = 1, doc = "…" }`. Without one the parameter must be given.
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
---Former name, which still works with a warning.
---@field was? string
---Variable of muster's environment that gives the value; the command line overrides it.
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

---A path, which is passed on as written.
---@param declaration? muster.ParameterDeclaration|string
---@return muster.Parameter
function muster.path(declaration) end

---A list; its default is in the declaration: `muster.list { { 1, 2 } }`.
---@param declaration? muster.ParameterDeclaration
---@return muster.Parameter
function muster.list(declaration) end

---A map; its default is in the declaration: `muster.map { { a = 1 } }`.
---@param declaration? muster.ParameterDeclaration
---@return muster.Parameter
function muster.map(declaration) end

---A number of bytes: "30GiB", "3.5GB" or a number.
---@param declaration? muster.ParameterDeclaration|string|number
---@return muster.Parameter
function muster.bytes(declaration) end

---A time: "90s", "12h", "1d12h". Its value is in seconds.
---@param declaration? muster.ParameterDeclaration|string|number
---@return muster.Parameter
function muster.duration(declaration) end

---A secret, which plan, journal and logs do not contain; given as NAME@=FILE or by a variable (`from_env`).
---@param declaration? muster.ParameterDeclaration
---@return muster.Parameter
function muster.secret(declaration) end

---@class muster.VariantDeclaration
---Name of the default variant.
---@field [1]? string
---The parameters of each variant by its name.
---@field one_of table<string, muster.Block>
---@field doc? string
---@field was? string
---@field from_env? string

---A choice between sets of parameters; `p.NAME.variant` is the name of the chosen set: `muster.variant { "adam",
---one_of = { adam = { lr = muster.float { 1e-3 } }, sgd = { lr = muster.float { 0.1 } } } }`.
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

---Exact division; reports all its numbers if there is a remainder: `muster.exact_div { devices = n, by = {
---pipeline_stages = pp, tensor_parallel_size = tp } }`.
---@param division table<string, any>
---@return integer
function muster.exact_div(division) end

---Bytes as text in a unit: `muster.size(p.device_memory, "GB")` is "30GB".
---@param bytes number
---@param unit string
---@return string
function muster.size(bytes, unit) end

---@class muster.FlagOptions
---argparse: --lr 0.5 --verbose; hydra: lr=0.5 verbose=true, quoted as Hydra's override grammar requires.
---@field style? "argparse"|"hydra"
---argparse: --log-level for log_level.
---@field dashes? boolean
---argparse: --sizes 1 2, or --sizes=1 --sizes=2 for options with action="append".
---@field lists? "words"|"repeat"
---@field only? string[]
---@field except? string[]

---Parameters as command-line arguments.
---@param parameters table<string, any>
---@param options? muster.FlagOptions
---@return string[]
function muster.flags(parameters, options) end

---A shell command: TEXT is run as /bin/sh -c TEXT. Other commands use no shell.
---@param text string
---@return any
function muster.shell(text) end

---Absolute path of a file beside the recipe.
---@param name string
---@return string
function muster.here(name) end

---Copies a text file beside the recipe into the plan and below the run directory, and returns its absolute path there.
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

---Sets values in a table that was read from a file, and refuses keys that the table does not have; returns the table.
---`path` names a value, "optimizer.lr" or "layers.2.size", or is a table of values by path.
---@param table table
---@param path string|table<string, any>
---@param value? any
---@return table
function muster.override(table, path, value) end

return muster
