---@meta muster
-- The recipe API for editors (docs/editors.md): the module "muster" with its recipes, contracts and parameters. What a plan
-- function and `each` get is in job.lua, sweeps are in sweep.lua, the attributes of the context API in context.lua, which is
-- generated. The others are written by hand; a test compares their names with those that muster really offers.

---@class muster
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
---Options of engines for `--on NAME`.
---@field slurm? muster.Slurm
---@field pbs? table<string, any>
---@field lsf? table<string, any>
---@field flux? table<string, any>
---@field gridengine? table<string, any>
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
---@field slurm? muster.Slurm
---@field pbs? table<string, any>
---@field lsf? table<string, any>
---@field flux? table<string, any>
---@field gridengine? table<string, any>
---@field plan? fun(p: table<string, any>, job: muster.Job, base: fun(p: table<string, any>, job: muster.Job))

---Options of Slurm.
---@class muster.Slurm
---@field nodes? integer nodes of the allocation; those beyond the job's are spares
---@field partition? string
---@field account? string
---@field qos? string
---@field time? string "12h", "1d12h" or "1-12:00:00"
---@field gres? string of each node: "gpu:8"
---@field constraint? string
---@field exclusive? boolean whole nodes; true unless given
---@field extra? string[] further options of sbatch: { "--mem=0" }

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
---How many.
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
---@field slurm? muster.Slurm options of engines for `--on NAME`
---@field pbs? table<string, any>
---@field lsf? table<string, any>
---@field flux? table<string, any>
---@field gridengine? table<string, any>

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

return muster
