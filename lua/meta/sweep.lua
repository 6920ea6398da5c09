---@meta _
-- What a sweep file is made of, for editors: further functions of the module "muster" (docs/sweeps.md).

---@class muster
local muster = {}

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
