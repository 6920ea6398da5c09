---@meta muster.mindspore
-- The functions of MindSpore 2.5 and later for editors (`muster docs editors`), beside all of muster.context. Printed by
-- `muster docs --stub mindspore` from the schema, and not edited by hand.

---@class muster.MindSporeModule : muster.ContextModule
local mindspore = {}

mindspore.device_context = {}

mindspore.device_context.ascend = {}

mindspore.device_context.ascend.op_debug = {}

---Set the configuration of the device's software.
---@class muster.DeviceContextAscendOpDebugAclinitConfig
---The configuration.
---
---- releases: 2.6.0 and later
---- type: a table of sub-keys
---- together: must be there
---@field config muster.DeviceContextAscendOpDebugAclinitConfig.config

---The configuration.
---@class muster.DeviceContextAscendOpDebugAclinitConfig.config
---Length of the queue of operators.
---
---- releases: 2.6.0 and later
---- type: text
---@field max_opqueue_num? string
---Report errors per process ("0") or thread ("1").
---
---- releases: 2.6.0 and later
---- type: text
---- values: `"0"`, `"1"`
---@field err_msg_mode? "0"|"1"
---What is written when an operator fails.
---
---- releases: 2.6.0 and later
---- type: a table of sub-keys
---@field dump? muster.DeviceContextAscendOpDebugAclinitConfig.config.dump

---What is written when an operator fails.
---@class muster.DeviceContextAscendOpDebugAclinitConfig.config.dump
---Write inputs and outputs, or nothing.
---
---- releases: 2.6.0 and later
---- type: text
---- values: `"lite_exception"`, `"lite_exception:disable"`
---- together: must be there
---@field dump_scene "lite_exception"|"lite_exception:disable"

---Set the configuration of the device's software.
---
---- releases: 2.6.0 and later
---- calls: can be called again
---
---More: `muster docs mindspore.device_context.ascend.op_debug.aclinit_config`
---@overload fun(names: muster.DeviceContextAscendOpDebugAclinitConfig)
---@param config muster.DeviceContextAscendOpDebugAclinitConfig.config The configuration.
function mindspore.device_context.ascend.op_debug.aclinit_config(config) end

---Check operators while they run.
---@class muster.DeviceContextAscendOpDebugDebugOption
---oom: check that they stay inside their memory.
---
---- releases: 2.5.0 and later
---- type: text
---- values: `"oom"`
---- together: must be there
---@field option_value "oom"

---Check operators while they run.
---
---- releases: 2.5.0 and later
---- calls: can be called again with equal values only
---- devices: Ascend; elsewhere MindSpore logs an error and does nothing
---
---More: `muster docs mindspore.device_context.ascend.op_debug.debug_option`
---@overload fun(names: muster.DeviceContextAscendOpDebugDebugOption)
---@param option_value "oom" oom: check that they stay inside their memory.
function mindspore.device_context.ascend.op_debug.debug_option(option_value) end

---Limit the time of one operator.
---@class muster.DeviceContextAscendOpDebugExecuteTimeout
---Seconds; 900 by default.
---
---- releases: 2.5.0 and later
---- type: a whole number
---- range: 0 to 4294967295
---- together: must be there
---@field op_timeout integer

---Limit the time of one operator.
---
---- releases: 2.5.0 and later
---- calls: can be called again with equal values only
---- devices: Ascend; elsewhere MindSpore logs an error and does nothing
---
---More: `muster docs mindspore.device_context.ascend.op_debug.execute_timeout`
---@overload fun(names: muster.DeviceContextAscendOpDebugExecuteTimeout)
---@param op_timeout integer Seconds; 900 by default.
function mindspore.device_context.ascend.op_debug.execute_timeout(op_timeout) end

mindspore.device_context.ascend.op_precision = {}

---Let convolutions of 32-bit floats run in HF32.
---@class muster.DeviceContextAscendOpPrecisionConvAllowHf32
---Whether they may.
---
---- releases: 2.5.0 and later
---- type: true or false
---- together: must be there
---@field value boolean

---Let convolutions of 32-bit floats run in HF32.
---
---- releases: 2.5.0 and later
---- calls: can be called again with equal values only
---- devices: Ascend; elsewhere MindSpore logs an error and does nothing
---
---More: `muster docs mindspore.device_context.ascend.op_precision.conv_allow_hf32`
---@overload fun(names: muster.DeviceContextAscendOpPrecisionConvAllowHf32)
---@param value boolean Whether they may.
function mindspore.device_context.ascend.op_precision.conv_allow_hf32(value) end

---Let matrix products of 32-bit floats run in HF32.
---@class muster.DeviceContextAscendOpPrecisionMatmulAllowHf32
---Whether they may.
---
---- releases: 2.5.0 and later
---- type: true or false
---- together: must be there
---@field value boolean

---Let matrix products of 32-bit floats run in HF32.
---
---- releases: 2.5.0 and later
---- calls: can be called again with equal values only
---- devices: Ascend; elsewhere MindSpore logs an error and does nothing
---
---More: `muster docs mindspore.device_context.ascend.op_precision.matmul_allow_hf32`
---@overload fun(names: muster.DeviceContextAscendOpPrecisionMatmulAllowHf32)
---@param value boolean Whether they may.
function mindspore.device_context.ascend.op_precision.matmul_allow_hf32(value) end

---Set the precision of single operators.
---@class muster.DeviceContextAscendOpPrecisionOpPrecisionMode
---File that names them; it must exist on the host.
---
---- releases: 2.5.0 and later
---- type: a path
---- together: must be there
---@field path string

---Set the precision of single operators.
---
---- releases: 2.5.0 and later
---- calls: can be called again with equal values only
---- devices: Ascend; elsewhere MindSpore logs an error and does nothing
---
---More: `muster docs mindspore.device_context.ascend.op_precision.op_precision_mode`
---@overload fun(names: muster.DeviceContextAscendOpPrecisionOpPrecisionMode)
---@param path string File that names them; it must exist on the host.
function mindspore.device_context.ascend.op_precision.op_precision_mode(path) end

---Set in which precision operators compute.
---@class muster.DeviceContextAscendOpPrecisionPrecisionMode
---The precision.
---
---- releases: 2.5.0 and later
---- type: text
---- values: `"force_fp16"`, `"allow_fp32_to_fp16"`, `"allow_mix_precision"`, `"must_keep_origin_dtype"`, `"force_fp32"`, `"allow_fp32_to_bf16"`, `"allow_mix_precision_fp16"`, `"allow_mix_precision_bf16"`
---- together: must be there
---@field mode "force_fp16"|"allow_fp32_to_fp16"|"allow_mix_precision"|"must_keep_origin_dtype"|"force_fp32"|"allow_fp32_to_bf16"|"allow_mix_precision_fp16"|"allow_mix_precision_bf16"

---Set in which precision operators compute.
---
---- releases: 2.5.0 and later
---- calls: can be called again with equal values only
---- devices: Ascend; elsewhere MindSpore logs an error and does nothing
---
---More: `muster docs mindspore.device_context.ascend.op_precision.precision_mode`
---@overload fun(names: muster.DeviceContextAscendOpPrecisionPrecisionMode)
---@param mode "force_fp16"|"allow_fp32_to_fp16"|"allow_mix_precision"|"must_keep_origin_dtype"|"force_fp32"|"allow_fp32_to_bf16"|"allow_mix_precision_fp16"|"allow_mix_precision_bf16" The precision.
function mindspore.device_context.ascend.op_precision.precision_mode(mode) end

mindspore.device_context.ascend.op_tuning = {}

---Choose what is tuned.
---@class muster.DeviceContextAscendOpTuningAoeJobType
---Whole subgraphs ("1") or single operators ("2").
---
---- releases: 2.5.0 and later
---- type: text
---- values: `"1"`, `"2"`
---- together: must be there
---@field config "1"|"2"

---Choose what is tuned.
---
---- releases: 2.5.0 and later
---- calls: can be called again with equal values only
---- devices: Ascend; elsewhere MindSpore logs an error and does nothing
---
---More: `muster docs mindspore.device_context.ascend.op_tuning.aoe_job_type`
---@overload fun(names: muster.DeviceContextAscendOpTuningAoeJobType)
---@param config "1"|"2" Whole subgraphs ("1") or single operators ("2").
function mindspore.device_context.ascend.op_tuning.aoe_job_type(config) end

---Tune operators while training, or keep the graph for tuning it later.
---@class muster.DeviceContextAscendOpTuningAoeTuneMode
---When to tune.
---
---- releases: 2.5.0 and later
---- type: text
---- values: `"online"`, `"offline"`
---- together: must be there
---@field tune_mode "online"|"offline"

---Tune operators while training, or keep the graph for tuning it later.
---
---- releases: 2.5.0 and later
---- calls: can be called again with equal values only
---- devices: Ascend; elsewhere MindSpore logs an error and does nothing
---
---More: `muster docs mindspore.device_context.ascend.op_tuning.aoe_tune_mode`
---@overload fun(names: muster.DeviceContextAscendOpTuningAoeTuneMode)
---@param tune_mode "online"|"offline" When to tune.
function mindspore.device_context.ascend.op_tuning.aoe_tune_mode(tune_mode) end

---Compile operators while training instead of taking ready ones.
---@class muster.DeviceContextAscendOpTuningOpCompile
---Whether to compile them.
---
---- releases: 2.5.0 and later
---- type: true or false
---- together: must be there
---@field value boolean

---Compile operators while training instead of taking ready ones.
---
---- releases: 2.5.0 and later
---- calls: can be called once in a process
---- devices: Ascend; elsewhere MindSpore logs an error and does nothing
---
---More: `muster docs mindspore.device_context.ascend.op_tuning.op_compile`
---@overload fun(names: muster.DeviceContextAscendOpTuningOpCompile)
---@param value boolean Whether to compile them.
function mindspore.device_context.ascend.op_tuning.op_compile(value) end

mindspore.device_context.cpu = {}

mindspore.device_context.cpu.op_tuning = {}

---Set the threads that run CPU kernels.
---@class muster.DeviceContextCpuOpTuningThreadsNum
---Number of threads; 25 by default.
---
---- releases: 2.5.0 and later
---- type: a whole number
---- range: 1 to 4294967295
---- together: must be there; overrides `set_context.runtime_num_threads`
---@field num integer

---Set the threads that run CPU kernels.
---
---- releases: 2.5.0 and later
---- calls: can be called once in a process
---
---More: `muster docs mindspore.device_context.cpu.op_tuning.threads_num`
---@overload fun(names: muster.DeviceContextCpuOpTuningThreadsNum)
---@param num integer Number of threads; 25 by default.
function mindspore.device_context.cpu.op_tuning.threads_num(num) end

mindspore.device_context.gpu = {}

mindspore.device_context.gpu.op_precision = {}

---Let convolutions use TF32 cores.
---@class muster.DeviceContextGpuOpPrecisionConvAllowTf32
---Whether they may.
---
---- releases: 2.5.0 and later
---- type: true or false
---- together: must be there
---@field value boolean

---Let convolutions use TF32 cores.
---
---- releases: 2.5.0 and later
---- calls: can be called again
---
---More: `muster docs mindspore.device_context.gpu.op_precision.conv_allow_tf32`
---@overload fun(names: muster.DeviceContextGpuOpPrecisionConvAllowTf32)
---@param value boolean Whether they may.
function mindspore.device_context.gpu.op_precision.conv_allow_tf32(value) end

---Let matrix products use TF32 cores.
---@class muster.DeviceContextGpuOpPrecisionMatmulAllowTf32
---Whether they may.
---
---- releases: 2.5.0 and later
---- type: true or false
---- together: must be there
---@field value boolean

---Let matrix products use TF32 cores.
---
---- releases: 2.5.0 and later
---- calls: can be called again
---
---More: `muster docs mindspore.device_context.gpu.op_precision.matmul_allow_tf32`
---@overload fun(names: muster.DeviceContextGpuOpPrecisionMatmulAllowTf32)
---@param value boolean Whether they may.
function mindspore.device_context.gpu.op_precision.matmul_allow_tf32(value) end

mindspore.device_context.gpu.op_tuning = {}

---Choose the algorithm of the gradients of a convolution's input.
---@class muster.DeviceContextGpuOpTuningConvDgradAlgo
---The algorithm.
---
---- releases: 2.5.0 and later
---- type: text
---- values: `"normal"`, `"performance"`, `"algo_0"`, `"algo_1"`, `"fft"`, `"fft_tiling"`, `"winograd"`, `"winograd_nonfused"`
---- together: must be there
---@field mode "normal"|"performance"|"algo_0"|"algo_1"|"fft"|"fft_tiling"|"winograd"|"winograd_nonfused"

---Choose the algorithm of the gradients of a convolution's input.
---
---- releases: 2.5.0 and later
---- calls: can be called again
---
---More: `muster docs mindspore.device_context.gpu.op_tuning.conv_dgrad_algo`
---@overload fun(names: muster.DeviceContextGpuOpTuningConvDgradAlgo)
---@param mode "normal"|"performance"|"algo_0"|"algo_1"|"fft"|"fft_tiling"|"winograd"|"winograd_nonfused" The algorithm.
function mindspore.device_context.gpu.op_tuning.conv_dgrad_algo(mode) end

---Choose the algorithm of convolutions.
---@class muster.DeviceContextGpuOpTuningConvFpropAlgo
---The algorithm.
---
---- releases: 2.5.0 and later
---- type: text
---- values: `"normal"`, `"performance"`, `"implicit_gemm"`, `"precomp_gemm"`, `"gemm"`, `"direct"`, `"fft"`, `"fft_tiling"`, `"winograd"`, `"winograd_nonfused"`
---- together: must be there
---- behaviour: documents write implicit_precomp_gemm, which MindSpore refuses: it takes precomp_gemm
---@field mode "normal"|"performance"|"implicit_gemm"|"precomp_gemm"|"gemm"|"direct"|"fft"|"fft_tiling"|"winograd"|"winograd_nonfused"

---Choose the algorithm of convolutions.
---
---- releases: 2.5.0 and later
---- calls: can be called again
---
---More: `muster docs mindspore.device_context.gpu.op_tuning.conv_fprop_algo`
---@overload fun(names: muster.DeviceContextGpuOpTuningConvFpropAlgo)
---@param mode "normal"|"performance"|"implicit_gemm"|"precomp_gemm"|"gemm"|"direct"|"fft"|"fft_tiling"|"winograd"|"winograd_nonfused" The algorithm.
function mindspore.device_context.gpu.op_tuning.conv_fprop_algo(mode) end

---Choose the algorithm of the gradients of a convolution's weights.
---@class muster.DeviceContextGpuOpTuningConvWgradAlgo
---The algorithm.
---
---- releases: 2.5.0 and later
---- type: text
---- values: `"normal"`, `"performance"`, `"algo_0"`, `"algo_1"`, `"algo_3"`, `"fft"`, `"fft_tiling"`, `"winograd_nonfused"`
---- together: must be there
---@field mode "normal"|"performance"|"algo_0"|"algo_1"|"algo_3"|"fft"|"fft_tiling"|"winograd_nonfused"

---Choose the algorithm of the gradients of a convolution's weights.
---
---- releases: 2.5.0 and later
---- calls: can be called again
---
---More: `muster docs mindspore.device_context.gpu.op_tuning.conv_wgrad_algo`
---@overload fun(names: muster.DeviceContextGpuOpTuningConvWgradAlgo)
---@param mode "normal"|"performance"|"algo_0"|"algo_1"|"algo_3"|"fft"|"fft_tiling"|"winograd_nonfused" The algorithm.
function mindspore.device_context.gpu.op_tuning.conv_wgrad_algo(mode) end

---Give the network that the script wraps with muster_context.parallel the settings of AutoParallel.
---@class muster.Parallel
---How operators are cut: as the network says, by propagation, or by search.
---
---- releases: 2.6.0 and later
---- type: text
---- values: `"semi_auto"`, `"sharding_propagation"`, `"recursive_programming"`
---- default: `"semi_auto"`
---- together: its default is passed on where it is left out; passed on as `parallel_mode`; overrides `set_auto_parallel_context.parallel_mode`
---- setting: for the whole job, not inside `each`
---- behaviour: 2.6.0: MindSpore 2.6 takes every text and fails later
---@field mode? "semi_auto"|"sharding_propagation"|"recursive_programming"
---Cut the optimizer's weights and states among devices; {} takes the defaults.
---
---- releases: 2.6.0 and later
---- type: a table of sub-keys
---- together: overrides `set_auto_parallel_context.enable_parallel_optimizer`
---- setting: for the whole job, not inside `each`
---@field hsdp? muster.Parallel.hsdp
---Cut the network into stages.
---
---- releases: 2.6.0 and later
---- type: a table of sub-keys
---- together: overrides `set_auto_parallel_context.pipeline_stages`
---- setting: for the whole job, not inside `each`
---@field pipeline? muster.Parallel.pipeline
---How a batch is cut for the devices: by word, by one list of cuts per input, or by one layout per input.
---
---- releases: 2.6.0 and later
---- type: text or a list of lists of whole numbers or a list of layouts
---- values: `"data_parallel"`, `"full_batch"`
---- default: `"data_parallel"`
---- together: overrides `set_auto_parallel_context.dataset_strategy`; lists of cuts should divide the devices of a stage, each in one dimension, and most on the input with most dimensions (documentation of 2.3.1, dataset slicing); layouts should arrange the devices of a stage (description of Layout of 2.6)
---- setting: for the whole job, not inside `each`
---@field dataset_strategy? "data_parallel"|"full_batch"|integer[][]|muster.Parallel.dataset_strategy[]
---File to read the sharding strategy of parameters from.
---
---- releases: 2.6.0 and later
---- type: text
---- default: `""`
---- together: overrides `set_auto_parallel_context.strategy_ckpt_load_file`
---@field load_param_strategy_file? string
---File to write the sharding strategy of parameters to.
---
---- releases: 2.6.0 and later
---- type: text
---- default: `""`
---- together: overrides `set_auto_parallel_context.strategy_ckpt_save_file`
---@field save_param_strategy_file? string
---Let these files hold parameters that are not trained, too.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.strategy_ckpt_config`
---- setting: for the whole job, not inside `each`
---@field disable_strategy_file_only_for_trainable_params? boolean
---JSON file to read the sharding strategy of operators from.
---
---- releases: 2.6.0 and later
---- type: text
---- range: begins with `/` (MindSpore refuses it); ends with `.json` (MindSpore refuses it)
---@field load_operator_strategy_file? string
---JSON file to write the sharding strategy of operators to.
---
---- releases: 2.6.0 and later
---- type: text
---- range: begins with `/` (MindSpore refuses it); ends with `.json` (MindSpore refuses it)
---@field save_operator_strategy_file? string
---How communication operators are fused into larger ones.
---
---- releases: 2.6.0 and later
---- type: a table of sub-keys
---- together: overrides `set_auto_parallel_context.comm_fusion`
---- setting: for the whole job, not inside `each`
---- behaviour: AutoParallel takes any sub-key; set_auto_parallel_context, which gets them later, does not
---@field comm_fusion? muster.Parallel.comm_fusion
---File to write the groups of devices to.
---
---- releases: 2.6.0 and later
---- type: text
---- default: `""`
---- together: overrides `set_auto_parallel_context.group_ckpt_save_file`
---@field set_group_ckpt_save_file? string
---Print the norm of gradients before they are summed.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.dump_local_norm`
---- setting: for the whole job, not inside `each`
---@field print_local_norm? boolean
---Folder to write those norms to, instead of printing them; MindSpore does not make it.
---
---- releases: 2.6.0 and later
---- type: text
---- default: `""`
---- together: overrides `set_auto_parallel_context.dump_local_norm_path`
---@field dump_local_norm? string
---Print the norm of each device's gradients.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.dump_device_local_norm`
---- setting: for the whole job, not inside `each`
---@field enable_device_local_norm? boolean
---Divide gradients by the number of devices after they are summed.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.gradients_mean`
---- setting: for the whole job, not inside `each`
---@field enable_gradients_mean? boolean
---Sum gradients in their own type instead of 32-bit floats.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.gradient_fp32_sync`
---- setting: for the whole job, not inside `each`
---@field disable_gradient_fp32_sync? boolean
---Take no mean of a loss that devices compute repeatedly.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.loss_repeated_mean`
---- setting: for the whole job, not inside `each`
---@field disable_loss_repeated_mean? boolean
---Reduce in 32-bit floats whatever the tensors are.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.force_fp32_communication`
---- setting: for the whole job, not inside `each`
---@field enable_fp32_communication? boolean
---JSON file with switches that overlap computing and communication; "" for none.
---
---- releases: 2.6.0 and later
---- type: text
---- values: `muster.null` for none
---- default: `""`
---- together: overrides `set_context.ascend_config.parallel_speed_up_json_path`
---- setting: for the whole job, not inside `each`
---- files: names a JSON file, `parallel_speed_up`, whose keys are checked if the recipe ships it by `muster.file`
---@field transformer_opt? string
---Initialise no parameters while the graph is compiled.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.init_param_in_compile`
---- setting: for the whole job, not inside `each`
---@field no_init_parameters_in_compile? boolean

---Cut the optimizer's weights and states among devices; {} takes the defaults.
---@class muster.Parallel.hsdp
---Devices that share one copy of the weights; -1: all.
---
---- releases: 2.6.0 and later
---- type: a whole number
---- range: at least 1; also `-1`
---- default: `-1`
---- together: overrides `set_auto_parallel_context.parallel_optimizer_config`; should divide the devices of a stage (descriptions of 2.3; MindSpore lets a size that does not divide them have no effect)
---- behaviour: MindSpore takes true for 1, muster does not
---@field shard_size? integer
---Parameters below this many KB are not cut.
---
---- releases: 2.6.0 and later
---- type: a whole number
---- range: at least 0
---- default: `64`
---- behaviour: MindSpore takes true for 1, muster does not
---@field threshold? integer
---What is cut: weights and states (1), gradients as well (2), parameters as well (3).
---
---- releases: 2.6.0 and later
---- type: text
---- values: `"level1"`, `"level2"`, `"level3"`
---- default: `"level1"`
---@field optimizer_level? "level1"|"level2"|"level3"

---Cut the network into stages.
---@class muster.Parallel.pipeline
---Number of stages; devices are divided evenly among them.
---
---- releases: 2.6.0 and later
---- type: a whole number
---- range: at least 1
---- default: `1`
---- together: must divide `job.workers` (MindSpore fails when a graph is compiled)
---@field stages? integer
---Give the result of the last stage to all stages.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.pipeline_result_broadcast`
---@field output_broadcast? boolean
---Let stages take turns with parts of a batch.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `false`
---- together: overrides `set_auto_parallel_context.pipeline_config`
---@field interleave? boolean
---Order of forward and backward steps.
---
---- releases: 2.6.0 and later
---- type: text
---- values:
---  - 2.6.0: `"1f1b"`, `"gpipe"`
---  - 2.7.0: `"1f1b"`, `"gpipe"`, `"seqpipe"`, `"seqvpp"`, `"seqsmartvpp"`
---- default: `"1f1b"`
---@field scheduler? "1f1b"|"gpipe"|"seqpipe"|"seqvpp"|"seqsmartvpp"

---How a batch is cut for the devices: by word, by one list of cuts per input, or by one layout per input.
---@class muster.Parallel.dataset_strategy
---How the devices of a stage are arranged: one number per axis, the product is their number.
---
---- releases: 2.6.0 and later
---- type: a list of whole numbers
---- range: 1 to 4294967295; not empty
---- together: must be there
---@field device_matrix integer[]
---Names of these axes; MindSpore refuses interleaved_parallel in a data set's layout.
---
---- releases: 2.6.0 and later
---- type: a list of texts
---- range: not empty
---- together: must be there
---@field alias_name string[]
---What cuts each dimension of the input: an axis, a list of axes, or "None"; each axis at most once.
---
---- releases: 2.6.0 and later
---- type: a list of names or lists of names
---- together: must be there
---@field tensor_map table
---Ranks in the order of the matrix; left out, from 0 on.
---
---- releases: 2.6.0 and later
---- type: a list of whole numbers
---- range: 0 to 4294967295
---@field rank_list? integer[]

---How communication operators are fused into larger ones.
---@class muster.Parallel.comm_fusion
---Fusion of allreduce operators.
---
---- releases: 2.6.0 and later
---- type: a table of sub-keys
---@field allreduce? muster.Parallel.comm_fusion.allreduce
---Fusion of allgather operators.
---
---- releases: 2.6.0 and later
---- type: a table of sub-keys
---@field allgather? muster.Parallel.comm_fusion.allgather
---Fusion of reducescatter operators.
---
---- releases: 2.6.0 and later
---- type: a table of sub-keys
---@field reducescatter? muster.Parallel.comm_fusion.reducescatter
---false switches fusion off, whatever stands beside it.
---
---- releases: 2.6.0 and later
---- type: true or false
---- default: `true`
---@field openstate? boolean

---Fusion of allreduce operators.
---@class muster.Parallel.comm_fusion.allreduce
---By a fixed size, by a given size, or by parameter index.
---
---- releases: 2.6.0 and later
---- type: text
---- values: `"auto"`, `"size"`, `"index"`
---- together: must be there
---@field mode "auto"|"size"|"index"
---Ignored; 64 MB are fused.
---
---- releases: 2.6.0 and later
---- type: a value
---- values: `muster.null` for none
---- default: `64`
---- together: with `mode = "auto"` beside it; left out, it is passed on as null
---@field config? any

---Fusion of allgather operators.
---@class muster.Parallel.comm_fusion.allgather
---By a fixed size, by a given size, or by parameter index.
---
---- releases: 2.6.0 and later
---- type: text
---- values: `"auto"`, `"size"`
---- together: must be there
---@field mode "auto"|"size"
---Ignored; 64 MB are fused.
---
---- releases: 2.6.0 and later
---- type: a value
---- values: `muster.null` for none
---- default: `64`
---- together: with `mode = "auto"` beside it; left out, it is passed on as null
---@field config? any

---Fusion of reducescatter operators.
---@class muster.Parallel.comm_fusion.reducescatter
---By a fixed size, by a given size, or by parameter index.
---
---- releases: 2.6.0 and later
---- type: text
---- values: `"auto"`, `"size"`
---- together: must be there
---@field mode "auto"|"size"
---Ignored; 64 MB are fused.
---
---- releases: 2.6.0 and later
---- type: a value
---- values: `muster.null` for none
---- default: `64`
---- together: with `mode = "auto"` beside it; left out, it is passed on as null
---@field config? any

---Give the network that the script wraps with muster_context.parallel the settings of AutoParallel.
---
---- releases: 2.6.0 and later
---- calls: can be called once in a process
---
---More: `muster docs mindspore.parallel`
---@param settings muster.Parallel
function mindspore.parallel(settings) end

mindspore.runtime = {}

---Set how many threads dispatch operators.
---@class muster.RuntimeDispatchThreadsNum
---Number of threads; 5 by default.
---
---- releases: 2.5.0 and later
---- type: a whole number
---- range: 1 to 4294967295
---- together: must be there; overrides `set_context.inter_op_parallel_num`
---@field threads_num integer

---Set how many threads dispatch operators.
---
---- releases: 2.5.0 and later
---- calls: can be called once in a process
---
---More: `muster docs mindspore.runtime.dispatch_threads_num`
---@overload fun(names: muster.RuntimeDispatchThreadsNum)
---@param threads_num integer Number of threads; 5 by default.
function mindspore.runtime.dispatch_threads_num(threads_num) end

---Launch every operator synchronously.
---
---- releases: 2.5.0 and later
---- calls: can be called again
---
---More: `muster docs mindspore.runtime.launch_blocking`
function mindspore.runtime.launch_blocking() end

---Bind the threads of a process to cores.
---@class muster.RuntimeSetCpuAffinity
---Whether threads are bound.
---
---- releases: 2.5.0 and later
---- type: true or false
---- together: must be there
---@field enable_affinity boolean
---Ranges of cores, or these by device.
---
---- releases: 2.5.0 and later
---- type:
---  - 2.5.0 to 2.6.0: a table of names with a list each
---  - 2.7.0: a list of texts or a table of names with a list each
---@field affinity_cpu_list? table<string, table>|string[]
---Numbers of cores by module.
---
---- releases: 2.7.0
---- type: a table of names with a list each
---- range: at least 0
---@field module_to_cpu_dict? table<string, table>

---Bind the threads of a process to cores.
---
---- releases: 2.5.0 and later
---- calls: can be called once in a process
---
---More: `muster docs mindspore.runtime.set_cpu_affinity`
---@overload fun(names: muster.RuntimeSetCpuAffinity)
---@param enable_affinity boolean Whether threads are bound.
---@param affinity_cpu_list? table<string, table>|string[] Ranges of cores, or these by device.
---@param module_to_cpu_dict? table<string, table> Numbers of cores by module.
function mindspore.runtime.set_cpu_affinity(enable_affinity, affinity_cpu_list, module_to_cpu_dict) end

---Launch groups of kernels in parallel threads.
---@class muster.RuntimeSetKernelLaunchGroup
---Number of threads.
---
---- releases: 2.6.0 and later
---- type: a whole number
---- range: at least 1
---- default: `2`
---- together: must divide `kernel_group_num` (MindSpore refuses it)
---@field thread_num? integer
---Number of groups, a multiple of the threads.
---
---- releases: 2.6.0 and later
---- type: a whole number
---- range: at least 1
---- default: `8`
---@field kernel_group_num? integer

---Launch groups of kernels in parallel threads.
---
---- releases: 2.6.0 and later
---- calls: can be called once in a process
---
---More: `muster docs mindspore.runtime.set_kernel_launch_group`
---@overload fun(names: muster.RuntimeSetKernelLaunchGroup)
---@param thread_num? integer Number of threads.
---@param kernel_group_num? integer Number of groups, a multiple of the threads.
function mindspore.runtime.set_kernel_launch_group(thread_num, kernel_group_num) end

---Set how device memory is taken.
---@class muster.RuntimeSetMemory
---Memory that is taken at the start.
---
---- releases: 2.5.0 and later
---- type: a size such as "3.5GB", or a number of bytes
---- range: above 0 GB
---- default: `"2GB"`
---@field init_size? string|number
---Size of the blocks that are taken afterwards.
---
---- releases: 2.5.0 and later
---- type: a size such as "3.5GB", or a number of bytes
---- range: above 0 GB
---- default: `"2GB"`
---- together: overrides `set_context.mempool_block_size`
---@field increase_size? string|number
---The most memory that is taken.
---
---- releases: 2.5.0 and later
---- type: a size such as "3.5GB", or a number of bytes
---- range: above 0 GB
---- default: `"1024GB"`
---- together: overrides `set_context.max_device_memory`
---@field max_size? string|number
---Prefer speed (O0) or little memory (O1).
---
---- releases: 2.5.0 and later
---- type: text
---- values: `"O0"`, `"O1"`
---- default: `"O0"`
---- together: overrides `set_context.memory_optimize_level`
---@field optimize_level? "O0"|"O1"
---Memory that is reserved as huge pages.
---
---- releases: 2.6.0 and later
---- type: a size such as "3.5GB", or a number of bytes
---- range: above 0 GB; also `"0GB"`
---- default: `"0GB"`
---@field huge_page_reserve_size? string|number

---Set how device memory is taken.
---
---- releases: 2.5.0 and later
---- calls: can be called once in a process
---
---More: `muster docs mindspore.runtime.set_memory`
---@overload fun(names: muster.RuntimeSetMemory)
---@param init_size? string|number Memory that is taken at the start.
---@param increase_size? string|number Size of the blocks that are taken afterwards.
---@param max_size? string|number The most memory that is taken.
---@param optimize_level? "O0"|"O1" Prefer speed (O0) or little memory (O1).
---@param huge_page_reserve_size? string|number Memory that is reserved as huge pages.
function mindspore.runtime.set_memory(init_size, increase_size, max_size, optimize_level, huge_page_reserve_size) end

---Let operators give the same result in every run.
---@class muster.SetDeterministic
---Whether they do.
---
---- releases: 2.5.0 and later
---- type: true or false
---- together: must be there; overrides `set_context.deterministic`
---@field deterministic boolean

---Let operators give the same result in every run.
---
---- releases: 2.5.0 and later
---- calls: can be called once in a process
---
---More: `muster docs mindspore.set_deterministic`
---@overload fun(names: muster.SetDeterministic)
---@param deterministic boolean Whether they do.
function mindspore.set_deterministic(deterministic) end

---Choose the device to compute on.
---@class muster.SetDevice
---Kind of device that computes.
---
---- releases: 2.5.0 and later
---- type: text
---- values: `"CPU"`, `"GPU"`, `"Ascend"`
---- together: must be there; overrides `set_context.device_target`
---- setting: for the whole job, not inside `each`
---@field device_target "CPU"|"GPU"|"Ascend"
---Number of the device on its host.
---
---- releases: 2.5.0 and later
---- type: a whole number
---- range: 0 to 4294967295
---- default: `0`
---- together: overrides `set_context.device_id`
---@field device_id? integer

---Choose the device to compute on.
---
---- releases: 2.5.0 and later
---- calls: can be called again with equal values only
---
---More: `muster docs mindspore.set_device`
---@overload fun(names: muster.SetDevice)
---@param device_target "CPU"|"GPU"|"Ascend" Kind of device that computes.
---@param device_id? integer Number of the device on its host.
function mindspore.set_device(device_target, device_id) end

---Limit how deeply functions of a network may call each other.
---@class muster.SetRecursionLimit
---The most nested calls.
---
---- releases: 2.5.0 and later
---- type: a whole number
---- range: at least 1
---- default: `1000`
---@field recursion_limit? integer

---Limit how deeply functions of a network may call each other.
---
---- releases: 2.5.0 and later
---- calls: can be called again
---
---More: `muster docs mindspore.set_recursion_limit`
---@overload fun(names: muster.SetRecursionLimit)
---@param recursion_limit? integer The most nested calls.
function mindspore.set_recursion_limit(recursion_limit) end

return mindspore
