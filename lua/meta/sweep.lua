---@meta _
-- The types of sweep files, for editors: further functions of the module "muster" (`muster docs sweeps`).

---@class muster
local muster = {}

---What a sweep file returns (`muster docs sweeps`).
---@class muster.Sweep
---Name of the sweep's folders; the recipe's name unless given.
---@field name? string
---@field doc? string
---The recipe of every trial: `muster.load "gpt.lua"`, or a recipe of the same file.
---@field recipe muster.RecipeValue
---Values that are the same in all trials, including `hosts` and `devices_per_host`.
---@field fixed? table<string, any>
---The points: a table of axes by the names of parameters, or muster.product, zip, union.
---@field space table
---Whether a point is run, and the reason if not: `d` has the derived values, hosts, devices and device_num.
---@field where? fun(p: table<string, any>, d: table<string, any>): boolean, string?
---Every point in order, unless given.
---@field sampler? muster.Sampler
---Points that are tried first: `{ { learning_rate = 0.1, batch_size = 64 } }`, of the space or beyond it.
---@field seed_points? table<string, any>[]
---One, or a list of two: `{ muster.minimize "loss", muster.minimize "latency" }`.
---@field objective? muster.Objective|muster.Objective[]
---What metrics of the best trial have to be: `{ "memory <= 58GiB", "accuracy >= 0.9" }`.
---@field constraints? string[]
---Another sweep, by its name, id or path: a sampler that learns knows its results from the beginning, as with `--from`.
---@field warm_start? string
---@field metrics? muster.SweepMetrics
---@field early_stop? muster.EarlyStop
---@field retry? muster.SweepRetry
---@field budget? muster.SweepBudget
---@field stop_after? muster.SweepStopAfter
---When points with a value that always fails are skipped.
---@field skip_after? muster.SweepSkipAfter
---Repetitions of each point: `3`, or a table.
---@field seeds? integer|muster.SweepSeeds

---Every other field is a pattern too: `{ loss = [[loss: (\\S+)]] }`.
---@class muster.SweepMetrics
---By metric: an RE2 pattern with one group, matched against each line of the log.
---@field stdout? table<string, string>
---Role whose first process's log is read; the role of rank 0 unless given.
---@field role? string
---File with one JSON object, which is read at the end.
---@field result? string

---@alias muster.FailureClass "oom_device"|"oom_host"|"diverged"|"timeout"|"host_lost"|"preempted"|"user_error"|"crash"|"stalled"|"no_result"

---@class muster.SweepRetry
---Attempts of a trial after the first; 0 unless given.
---@field max? integer
---@field on? muster.FailureClass|muster.FailureClass[]
---Consecutive failures on a host after which it gets no more trials; 2 unless given, 0: no limit.
---@field quarantine_host_after? integer
---By class: a pattern that is searched in the last lines of the first failure.
---@field patterns? table<muster.FailureClass, string>
---No retry of a failure that would repeat, and no more trials on a host that causes them (muster docs verdicts).
---@field verdict? boolean

---@class muster.SweepSeeds
---Repetitions of each point.
---@field count integer
---Parameter that gets the seeds 0, 1, …; "seed" unless given.
---@field param? string
---Whether a point that is clearly worse than the best gets no further seed; true unless given.
---@field race? boolean
---How points are ranked; "mean" unless given.
---@field rank_by? "mean"|"median"

---@class muster.SweepStopAfter
---Trials that failed with the same class and reason, with no result among them.
---@field failures? integer
---Whether the sweep ends once no gain above the noise of its results is expected.
---@field no_gain? boolean

---@class muster.SweepSkipAfter
---Trials with the value that all failed with the same class; 4 unless given, 0: never.
---@field failures? integer

---@class muster.SweepBudget
---Devices that all trials together use at the same time.
---@field devices? integer
---Time × devices of all trials; none is started that would not reach its first rung, or its end, within it.
---@field device_hours? number
---Time after which no trial is started: seconds, or "36h".
---@field time? string|number
---Maximum number of trials.
---@field trials? integer
---Trials that run at the same time.
---@field slots? integer
---Trials that share a device at the same time; 1 unless given.
---@field per_device? integer

---@class muster.Axis
---@class muster.Space
---@class muster.Sampler
---@class muster.Objective
---@class muster.EarlyStop

---@class muster.Asha
---Metric that measures the progress of a trial; "step" unless given.
---@field resource? string
---@field min? number
---@field max? number
---@field eta? number
---Number of results below which no trial is stopped.
---@field min_results? integer
---Pause trials at each rung, and continue the best from their checkpoints, instead of stopping them.
---@field promote? boolean

---@class muster.Hyperband
---Metric that measures the progress of a trial; "step" unless given.
---@field resource? string
---@field min? number
---@field max? number
---@field eta? number
---Pause trials at each rung, and continue the best from their checkpoints, instead of stopping them.
---@field promote? boolean

---@class muster.MedianRule
---@field resource? string
---@field warmup? number
---@field min_finished? integer

---What a sweep file returns.
---@param sweep muster.Sweep
---@return any
function muster.sweep(sweep) end

---Each of the given values: `muster.choice { 1, 2, 4 }`; in a space a plain list means the same.
---@param values any[]
---@return muster.Axis
function muster.choice(values) end

---low, low + step, … to high; steps of 1 unless given. Limits may be texts in the parameter's format: "1GiB".
---@param low number|string
---@param high number|string
---@param step? number|string
---@return muster.Axis
function muster.range(low, high, step) end

---The same with a required step.
---@param low number|string
---@param high number|string
---@param step number|string
---@return muster.Axis
function muster.quantised(low, high, step) end

---Any number from low up to, but not including, high.
---@param low number|string
---@param high number|string
---@return muster.Axis
function muster.uniform(low, high) end

---The same on a logarithmic scale.
---@param low number|string
---@param high number|string
---@return muster.Axis
function muster.log_uniform(low, high) end

---Each whole number from low to high.
---@param low number|string
---@param high number|string
---@return muster.Axis
function muster.int_uniform(low, high) end

---Whole numbers from low to high, on a logarithmic scale.
---@param low number|string
---@param high number|string
---@return muster.Axis
function muster.int_log_uniform(low, high) end

---All combinations of the entries.
---@param entries table
---@return muster.Space
function muster.product(entries) end

---The n-th values of all entries together; all entries must have the same length.
---@param entries table
---@return muster.Space
function muster.zip(entries) end

---The points of the first space, then those of the second, … Draws (random, Sobol, TPE and GP) choose each space equally often, whatever
---the number of its points, or by `weights`: `muster.union { { … }, { … }, weights = { 3, 1 } }`.
---@param spaces table
---@return muster.Space
function muster.union(spaces) end

---Restricts the space to points for which the condition holds: `muster.when({ optimizer = "adam" }, { … })`.
---@param condition table<string, any>
---@param space table
---@return muster.Space
function muster.when(condition, space) end

---All points, in order.
---@param options? { trials?: integer }
---@return muster.Sampler
function muster.grid(options) end

---Points chosen at random; the seed makes them repeatable: `muster.random { seed = 1, trials = 20 }`.
---@param options { seed?: integer, trials?: integer }
---@return muster.Sampler
function muster.random(options) end

---Points that fill the space evenly; best with a power of two.
---@param options { seed?: integer, trials: integer, scramble?: boolean }
---@return muster.Sampler
function muster.sobol(options) end

---Points near those with good results, by a tree-structured Parzen estimator; the sweep needs an objective.
---@param options { seed?: integer, trials?: integer }
---@return muster.Sampler
function muster.tpe(options) end

---Points where a Gaussian process expects the most improvement, for up to 500 results and 20 axes; the sweep needs an
---objective.
---@param options { seed?: integer, trials?: integer }
---@return muster.Sampler
function muster.gp(options) end

---Points of Sobol's sequence, a Gaussian process or a tree-structured Parzen estimator, by the space, the trials and how many
---of them run at once; the sweep says which and why.
---@param options { seed?: integer, trials?: integer }
---@return muster.Sampler
function muster.auto(options) end

---Points from a program, in lines of JSON (`muster docs sweeps`); the sweep needs an objective.
---@param options { command: string[], trials: integer, seed?: integer, timeout?: string }
---@return muster.Sampler
function muster.pipe(options) end

---The trial with the least value of the metric is the best: `muster.minimize "loss"`.
---@param metric string
---@return muster.Objective
function muster.minimize(metric) end

---The trial with the greatest value of the metric is the best: `muster.maximize "accuracy"`.
---@param metric string
---@return muster.Objective
function muster.maximize(metric) end

---Successive halving: at min, min·eta, … only the best 1/eta of the trials continue.
---@param options muster.Asha
---@return muster.EarlyStop
function muster.asha(options) end

---Successive halving in several brackets, whose first rungs are at min, min·eta, … max.
---@param options muster.Hyperband
---@return muster.EarlyStop
function muster.hyperband(options) end

---Stops a trial that is worse than the median of the finished trials.
---@param options muster.MedianRule
---@return muster.EarlyStop
function muster.median(options) end
