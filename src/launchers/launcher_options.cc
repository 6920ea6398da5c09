#include "launchers/launcher_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/values/text_parts.h"

namespace muster {
namespace {

// The tables of launchers' options, as data.

using enum OptionEffect;

// The effect of options without a counterpart, and what muster does instead.
constexpr std::string_view kRendezvous =
    "named the rendezvous endpoint; muster holds a free port and gives it to every process";
constexpr std::string_view kThisHost = "numbered this host; one muster command starts all hosts and numbers them";
constexpr std::string_view kLogs =
    "chose where output goes; every process has its own log (`muster logs`, `muster run --tee`)";
constexpr std::string_view kPolling = "set how often workers were polled; muster is notified of every exit";
constexpr std::string_view kForking = "chose how workers were forked; muster executes a program for every process";
constexpr std::string_view kElastic =
    "changed the number of hosts during the run; a muster job keeps the size of its plan";
constexpr std::string_view kReaching = "chose how hosts are reached; muster uses ssh, or Slurm within an allocation";
constexpr std::string_view kInherits = "passed on the environment; muster's processes inherit it";
constexpr std::string_view kVerbose = "set the launcher's verbosity";
constexpr std::string_view kCores = "bound workers to cores; `cores = N` in the role gives each process its own";
constexpr std::string_view kStopping =
    "chose signals and times of the stop; here `stop = { signal = …, grace = … }` in the role";
constexpr std::string_view kNothingStarts = "prints information and starts nothing";
constexpr std::string_view kFunction =
    "named a function for TPU or notebook launches; a script is started as a program";
constexpr std::string_view kTpu = "starts workers by the TPU runtime, which has no counterpart";
constexpr std::string_view kSageMaker = "starts a job of Amazon SageMaker and no process here";
constexpr std::string_view kDebugger = "starts a debugger around the job";

constexpr LauncherOption kTorchrunTable[] = {
    {"--nnodes", kHosts},
    {"--nproc-per-node", kPerHost},
    {"--max-restarts", kRestarts},
    {"-m --module", kModule, 0},
    {"--no-python", kNoPython, 0},
    {"--run-path", kLeftOut, 0, "ran the script within torchrun's own interpreter; it is started as a program"},
    {"--rdzv-backend --rdzv-endpoint --rdzv-id --rdzv-conf --master-addr --master-port --local-addr", kLeftOut, 1,
     kRendezvous},
    {"--standalone", kLeftOut, 0, kRendezvous},
    {"--node-rank", kLeftOut, 1, kThisHost},
    {"--monitor-interval", kLeftOut, 1, kPolling},
    {"--start-method", kLeftOut, 1, kForking},
    {"--role", kLeftOut, 1,
     "named the role; here a role of another name is `job:role \"NAME\" { as = \"worker\", … }`"},
    {"--log-dir --logdir -r --redirects -t --tee --local-ranks-filter --logs-specs --duplicate-stdout-filters "
     "--duplicate-stderr-filters --log-line-prefix-template",
     kLeftOut, 1, kLogs},
    {"--event-log-handler", kLeftOut, 1, "sent the launcher's events to a handler; muster's are in the run's journal"},
    {"--numa-binding", kLeftOut, 1, kCores},
    {"--signals-to-handle --shutdown-timeout", kLeftOut, 1, kStopping},
    {"--virtual-local-rank", kLeftOut, 0,
     "showed each worker its own device only, as device 0; here `devices = 1, visible = \"own\"` in the role"},
    {"--use-env", kNoLocalRank, 0},
    {"-h --help", kRefused, 0, kNothingStarts},
};

constexpr LauncherOption kMsrunTable[] = {
    {"--worker_num", kTotal},
    {"--local_worker_num", kPerHost},
    {"--cluster_time_out", kSets, 1, "MS_TOPO_TIMEOUT"},
    {"--rank_table_file", kSets, 1, "RANK_TABLE_FILE"},
    {"--sim_level", kSimulation},
    {"--sim_rank_id", kSimulatedRank},
    {"--master_addr --master_port", kLeftOut, 1, kRendezvous},
    {"--node_rank", kNodeRank, 1, kThisHost},
    {"--log_dir --worker_log_name --tail_worker_log", kLeftOut, 1, kLogs},
    {"--join", kTrueOrFalse, 1,
     "chose whether msrun waits; `muster run` waits until the job has ended, with `--detach` it does not"},
    {"--bind_core", kBinding},
    {"-h --help", kRefused, 0, kNothingStarts},
};

constexpr LauncherOption kMpirunTable[] = {
    {"-n --np -c", kTotal},
    {"-N --npernode", kPerHost},
    {"--pernode", kPerHost, 0, "1"},
    {"-x", kVariable},
    {"--wdir --wd", kFolder},
    {"-H --host", kHostList},
    {"--hostfile --machinefile --default-hostfile", kHostFile},
    {"--map-by", kMapping},
    {"--bind-to --rank-by --cpu-set --cpu-list --cpus-per-proc --cpus-per-rank --rankfile --npersocket --ppr "
     "--tune --am --prefix --path --preload-files --launch-agent --stdin --timeout --output --output-filename "
     "--personality --max-restarts --report-pid --report-uri --report-events --display --runtime-options "
     "--max-vm-size --xml-file",
     kKept},
    {"--mca --gmca --omca --pmixmca --prtemca", kKept, 2},
    {"--bycore --byslot --bynode --bind-to-core --bind-to-socket --bind-to-none --nolocal --oversubscribe "
     "--nooversubscribe --use-hwthread-cpus --report-bindings --display-map --display-devel-map --display-allocation "
     "--display-topo --tag-output --timestamp-output --merge-stderr-to-stdout --xml --allow-run-as-root --noprefix "
     "--preload-binary --set-cwd-to-session-dir --get-stack-traces --report-state-on-timeout --enable-recovery "
     "--disable-recovery --continuous --report-child-jobs-separately --leave-session-attached --show-progress "
     "--debug-daemons --debug-daemons-file --novm",
     kKept, 0},
    {"-q --quiet -v --verbose", kLeftOut, 0, kVerbose},
    {"--app", kRefused, 1, "reads the programs from a file"},
    {"--dvm --do-not-launch --terminate --output-proctable", kRefused, 0, "starts no program"},
    {"--xterm", kRefused, 1, "opens a terminal window for each rank"},
    {"--debug --tv", kRefused, 0, kDebugger},
    {"-h --help -V --version", kRefused, 0, kNothingStarts},
};

constexpr LauncherOption kHydraTable[] = {
    {"-n -np", kTotal},
    {"-ppn -perhost -grr", kPerHost},
    {"-rr", kPerHost, 0, "1"},
    {"-hosts -host -hosts-group", kHostList},
    {"-f -hostfile -machinefile -machine", kHostFile},
    {"-env -genv", kVariableAndValue, 2},
    {"-envall -genvall", kLeftOut, 0, kInherits},
    {"-envlist -genvlist", kLeftOut, 1, kInherits},
    {"-envexcl -genvexcl", kUnset},
    {"-envnone -genvnone", kLeftOut, 0,
     "passed on no variables; processes inherit the environment here, without what `env = { NAME = muster.unset }` "
     "names"},
    {"-envuser -genvuser", kLeftOut, 0, kInherits},
    {"-wdir -wd", kFolder},
    {"-bind-to -map-by -membind -iface -launcher -launcher-exec -bootstrap -bootstrap-exec -s -outfile-pattern "
     "-errfile-pattern -prepend-pattern -demux -usize -pmi-port -path -gpus-per-proc -topolib -tune -trace -t "
     "-gtool -gtoolfile -branch-count -tmpdir -localhost -ckpointlib -ckpoint-prefix -ckpoint-num "
     "-ckpoint-interval -profile -pmi-connect",
     kKept},
    {"-enable-x -disable-x -prepend-rank -l -print-rank-map -print-all-exitcodes -ordered-output -check_mpi -ilp64 "
     "-prot -nolocal -silent-abort -disable-auto-cleanup -disable-hostname-propagation -skip-launch-node -aps -mps "
     "-cleanup",
     kKept, 0},
    {"-rmk", kLeftOut, 1, kReaching},
    {"-verbose -v", kLeftOut, 0, kVerbose},
    {"-configfile", kRefused, 1, "reads the programs from a file"},
    {"-gdb -gdba -tv -tva", kRefused, 0, kDebugger},
    {"-h -help -info -version -V", kRefused, 0, kNothingStarts},
};

constexpr LauncherOption kDeepspeedTable[] = {
    {"--num_nodes", kHosts},
    {"--num_gpus --num_accelerators", kPerHost},
    {"-H --hostfile", kHostFile},
    {"-i --include", kSlots},
    {"-e --exclude", kExcludes, 1},
    {"--module", kModule, 0},
    {"--no_python", kNoPython, 0},
    {"--no_local_rank", kNoLocalRank, 0},
    {"--master_addr --master_port", kLeftOut, 1, kRendezvous},
    {"--node_rank", kLeftOut, 1, kThisHost},
    {"--launcher --launcher_args --ssh_port", kLeftOut, 1, kReaching},
    {"--no_ssh --no_ssh_check --force_multi", kLeftOut, 0, kReaching},
    {"--comment --account", kLeftOut, 1, "passed a comment or an account to srun; give it to salloc or sbatch"},
    {"--enable_each_rank_log", kLeftOut, 1, kLogs},
    {"--save_pid", kLeftOut, 0, "wrote the launcher's pid to a file; `muster ps` lists runs, `muster stop` ends them"},
    {"--min_elastic_nodes --max_elastic_nodes", kLeftOut, 1, kElastic},
    {"--elastic_training", kLeftOut, 0, kElastic},
    {"--bind_cores_to_rank", kLeftOut, 0, kCores},
    {"--bind_core_list", kLeftOut, 1, kCores},
    {"--venv_script", kLeftOut, 1, "activated an environment; here `job:activate { source = \"FILE\" }`"},
    {"--autotuning", kRefused, 1, "runs DeepSpeed's experiments with the script, not the script"},
    {"-h --help", kRefused, 0, kNothingStarts},
};

constexpr LauncherOption kAccelerateTable[] = {
    {"--num_processes", kTotal},
    {"--num_machines", kHosts},
    {"--gpu_ids", kDevices},
    {"--max_restarts", kRestarts},
    {"-m --module", kModule, 0},
    {"--no_python", kNoPython, 0},
    {"--config_file", kConfigFile},
    {"--num_cpu_threads_per_process", kSets, 1, "OMP_NUM_THREADS"},
    {"--cpu --use_cpu", kAssigns, 0, "ACCELERATE_USE_CPU=true"},
    {"--debug", kAssigns, 0, "ACCELERATE_DEBUG_MODE=true"},
    {"--enable_cpu_affinity", kAssigns, 0, "ACCELERATE_CPU_AFFINITY=1"},
    {"--mixed_precision", kSetsLower, 1, "ACCELERATE_MIXED_PRECISION"},
    {"--dynamo_backend", kSets, 1, "ACCELERATE_DYNAMO_BACKEND"},
    {"--dynamo_mode", kSets, 1, "ACCELERATE_DYNAMO_MODE"},
    {"--dynamo_use_fullgraph", kAssigns, 0, "ACCELERATE_DYNAMO_USE_FULLGRAPH=True"},
    {"--dynamo_use_dynamic", kAssigns, 0, "ACCELERATE_DYNAMO_USE_DYNAMIC=True"},
    {"--dynamo_use_regional_compilation", kAssigns, 0, "ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION=True"},
    {"--gradient_accumulation_steps", kSets, 1, "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"},
    {"--gradient_clipping", kSetsLower, 1, "ACCELERATE_GRADIENT_CLIPPING"},
    {"--use_deepspeed", kAssigns, 0, "ACCELERATE_USE_DEEPSPEED=true"},
    {"--deepspeed_config_file", kSets, 1, "ACCELERATE_DEEPSPEED_CONFIG_FILE"},
    {"--zero_stage", kSets, 1, "ACCELERATE_DEEPSPEED_ZERO_STAGE"},
    {"--offload_optimizer_device", kSetsLower, 1, "ACCELERATE_DEEPSPEED_OFFLOAD_OPTIMIZER_DEVICE"},
    {"--offload_param_device", kSetsLower, 1, "ACCELERATE_DEEPSPEED_OFFLOAD_PARAM_DEVICE"},
    {"--offload_optimizer_nvme_path", kSets, 1, "ACCELERATE_DEEPSPEED_OFFLOAD_OPTIMIZER_NVME_PATH"},
    {"--offload_param_nvme_path", kSets, 1, "ACCELERATE_DEEPSPEED_OFFLOAD_PARAM_NVME_PATH"},
    {"--zero3_init_flag", kSetsLower, 1, "ACCELERATE_DEEPSPEED_ZERO3_INIT"},
    {"--zero3_save_16bit_model", kSetsLower, 1, "ACCELERATE_DEEPSPEED_ZERO3_SAVE_16BIT_MODEL"},
    {"--deepspeed_moe_layer_cls_names", kSets, 1, "ACCELERATE_DEEPSPEED_MOE_LAYER_CLS_NAMES"},
    {"--use_fsdp", kAssigns, 0, "ACCELERATE_USE_FSDP=true"},
    {"--fsdp_version", kSets, 1, "FSDP_VERSION"},
    {"--fsdp_sharding_strategy", kSets, 1, "FSDP_SHARDING_STRATEGY"},
    {"--fsdp_reshard_after_forward", kSetsLower, 1, "FSDP_RESHARD_AFTER_FORWARD"},
    {"--fsdp_offload_params", kSetsLower, 1, "FSDP_OFFLOAD_PARAMS"},
    {"--fsdp_min_num_params", kSets, 1, "FSDP_MIN_NUM_PARAMS"},
    {"--fsdp_auto_wrap_policy", kSets, 1, "FSDP_AUTO_WRAP_POLICY"},
    {"--fsdp_transformer_layer_cls_to_wrap", kSets, 1, "FSDP_TRANSFORMER_CLS_TO_WRAP"},
    {"--fsdp_backward_prefetch --fsdp_backward_prefetch_policy", kSets, 1, "FSDP_BACKWARD_PREFETCH"},
    {"--fsdp_state_dict_type", kSets, 1, "FSDP_STATE_DICT_TYPE"},
    {"--fsdp_forward_prefetch", kSetsLower, 1, "FSDP_FORWARD_PREFETCH"},
    {"--fsdp_use_orig_params", kSetsLower, 1, "FSDP_USE_ORIG_PARAMS"},
    {"--fsdp_cpu_ram_efficient_loading", kSetsLower, 1, "FSDP_CPU_RAM_EFFICIENT_LOADING"},
    {"--fsdp_sync_module_states", kSetsLower, 1, "FSDP_SYNC_MODULE_STATES"},
    {"--fsdp_activation_checkpointing", kSetsLower, 1, "FSDP_ACTIVATION_CHECKPOINTING"},
    {"--fsdp_ignored_modules", kSets, 1, "FSDP_IGNORED_MODULES"},
    {"--use_megatron_lm", kAssigns, 0, "ACCELERATE_USE_MEGATRON_LM=true"},
    {"--megatron_lm_tp_degree", kSets, 1, "MEGATRON_LM_TP_DEGREE"},
    {"--megatron_lm_pp_degree", kSets, 1, "MEGATRON_LM_PP_DEGREE"},
    {"--megatron_lm_num_micro_batches", kSets, 1, "MEGATRON_LM_NUM_MICRO_BATCHES"},
    {"--megatron_lm_sequence_parallelism", kSets, 1, "MEGATRON_LM_SEQUENCE_PARALLELISM"},
    {"--megatron_lm_recompute_activations", kSets, 1, "MEGATRON_LM_RECOMPUTE_ACTIVATIONS"},
    {"--megatron_lm_use_distributed_optimizer", kSets, 1, "MEGATRON_LM_USE_DISTRIBUTED_OPTIMIZER"},
    {"--megatron_lm_gradient_clipping", kSets, 1, "MEGATRON_LM_GRADIENT_CLIPPING"},
    {"--use_parallelism_config", kAssigns, 0, "ACCELERATE_USE_PARALLELISM_CONFIG=true"},
    {"--parallelism_config_dp_replicate_size", kSets, 1, "PARALLELISM_CONFIG_DP_REPLICATE_SIZE"},
    {"--parallelism_config_dp_shard_size", kSets, 1, "PARALLELISM_CONFIG_DP_SHARD_SIZE"},
    {"--parallelism_config_tp_size", kSets, 1, "PARALLELISM_CONFIG_TP_SIZE"},
    {"--parallelism_config_cp_size", kSets, 1, "PARALLELISM_CONFIG_CP_SIZE"},
    {"--parallelism_config_cp_comm_strategy", kSets, 1, "PARALLELISM_CONFIG_CP_COMM_STRATEGY"},
    {"--mpirun_ccl", kSets, 1, "CCL_WORKER_COUNT"},
    {"--multi_gpu --use_xpu --ipex --same_network", kLeftOut, 0,
     "chose a kind of device or network; the script finds its devices itself"},
    {"--main_process_ip --main_process_port --rdzv_backend --rdzv_conf", kLeftOut, 1, kRendezvous},
    {"--machine_rank", kLeftOut, 1, kThisHost},
    {"--monitor_interval", kLeftOut, 1, kPolling},
    {"--role", kLeftOut, 1, "named the role of torchrun"},
    {"-t --tee --log_dir", kLeftOut, 1, kLogs},
    {"-q --quiet", kLeftOut, 0, kVerbose},
    {"--main_training_function", kLeftOut, 1, kFunction},
    {"--downcast_bf16", kLeftOut, 0, "chose types for TPUs"},
    {"--fp8_backend --fp8_margin --fp8_interval --fp8_format --fp8_amax_history_len --fp8_amax_compute_algo "
     "--fp8_override_linear_precision --fp8_opt_level",
     kLeftOut, 1, "tuned fp8; give `FP8RecipeKwargs` in the script"},
    {"--fp8_use_autocast_during_eval", kLeftOut, 0, "tuned fp8; give `FP8RecipeKwargs` in the script"},
    {"--deepspeed_hostfile --mpirun_hostfile", kHostFile},
    {"--deepspeed_inclusion_filter", kSlots},
    {"--deepspeed_exclusion_filter", kExcludes, 1},
    {"--deepspeed_multinode_launcher", kLeftOut, 1, kReaching},
    {"--tpu --tpu_cluster --tpu_use_cluster --tpu_use_sudo --no_tpu_cluster", kRefused, 0, kTpu},
    {"--vm --env", kRefused, 1, kTpu},
    {"--aws_access_key_id --aws_secret_access_key", kRefused, 1, kSageMaker},
    {"-h --help", kRefused, 0, kNothingStarts},
};

constexpr LauncherOption kHorovodrunTable[] = {
    {"-np --num-proc", kTotal},
    {"-H --hosts", kHostList},
    {"-hostfile --hostfile", kHostFile},
    {"--slots-per-host --slots", kPerHost},
    {"--mpi-args --binding-args", kKeptWords},
    {"--tcp", kAssigns, 0, "NCCL_IB_DISABLE=1"},
    {"--fusion-threshold-mb", kSetsMebibytes, 1, "HOROVOD_FUSION_THRESHOLD"},
    {"--cycle-time-ms", kSets, 1, "HOROVOD_CYCLE_TIME"},
    {"--cache-capacity", kSets, 1, "HOROVOD_CACHE_CAPACITY"},
    {"--hierarchical-allreduce", kAssigns, 0, "HOROVOD_HIERARCHICAL_ALLREDUCE=1"},
    {"--no-hierarchical-allreduce", kAssigns, 0, "HOROVOD_HIERARCHICAL_ALLREDUCE=0"},
    {"--hierarchical-allgather", kAssigns, 0, "HOROVOD_HIERARCHICAL_ALLGATHER=1"},
    {"--no-hierarchical-allgather", kAssigns, 0, "HOROVOD_HIERARCHICAL_ALLGATHER=0"},
    {"--autotune", kAssigns, 0, "HOROVOD_AUTOTUNE=1"},
    {"--no-autotune", kAssigns, 0, "HOROVOD_AUTOTUNE=0"},
    {"--autotune-log-file", kSets, 1, "HOROVOD_AUTOTUNE_LOG"},
    {"--autotune-warmup-samples", kSets, 1, "HOROVOD_AUTOTUNE_WARMUP_SAMPLES"},
    {"--autotune-steps-per-sample", kSets, 1, "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE"},
    {"--autotune-bayes-opt-max-samples", kSets, 1, "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES"},
    {"--autotune-gaussian-process-noise", kSets, 1, "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE"},
    {"--timeline-filename", kSets, 1, "HOROVOD_TIMELINE"},
    {"--timeline-mark-cycles", kAssigns, 0, "HOROVOD_TIMELINE_MARK_CYCLES=1"},
    {"--no-timeline-mark-cycles", kAssigns, 0, "HOROVOD_TIMELINE_MARK_CYCLES=0"},
    {"--no-stall-check", kAssigns, 0, "HOROVOD_STALL_CHECK_DISABLE=1"},
    {"--stall-check", kAssigns, 0, "HOROVOD_STALL_CHECK_DISABLE=0"},
    {"--stall-check-warning-time-seconds", kSets, 1, "HOROVOD_STALL_CHECK_TIME_SECONDS"},
    {"--stall-check-shutdown-time-seconds", kSets, 1, "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"},
    {"--mpi-threads-disable", kAssigns, 0, "HOROVOD_MPI_THREADS_DISABLE=1"},
    {"--no-mpi-threads-disable", kAssigns, 0, "HOROVOD_MPI_THREADS_DISABLE=0"},
    {"--num-nccl-streams", kSets, 1, "HOROVOD_NUM_NCCL_STREAMS"},
    {"--thread-affinity", kSets, 1, "HOROVOD_THREAD_AFFINITY"},
    {"--gloo-timeout-seconds", kSets, 1, "HOROVOD_GLOO_TIMEOUT_SECONDS"},
    {"--log-level", kSets, 1, "HOROVOD_LOG_LEVEL"},
    {"--log-without-timestamp --log-hide-timestamp", kAssigns, 0, "HOROVOD_LOG_HIDE_TIME=1"},
    {"--log-with-timestamp --no-log-hide-timestamp", kAssigns, 0, "HOROVOD_LOG_HIDE_TIME=0"},
    {"--gloo --jsrun", kLeftOut, 0,
     "chose a controller that horovodrun itself serves; here mpirun starts the ranks, and Horovod must be built with "
     "MPI"},
    {"--mpi", kLeftOut, 0, "chose MPI as the controller, as it is here"},
    {"-p --ssh-port -i --ssh-identity-file", kLeftOut, 1, "configured ssh; put it into ~/.ssh/config"},
    {"--network-interface --network-interfaces", kLeftOut, 1,
     "chose network interfaces; for mpirun `--mca btl_tcp_if_include NAME`, for NCCL `NCCL_SOCKET_IFNAME`"},
    {"--start-timeout", kLeftOut, 1, "limited the time of the launcher's own checks"},
    {"--disable-cache", kLeftOut, 0, "repeated the launcher's checks of hosts"},
    {"--output-filename", kLeftOut, 1, kLogs},
    {"-prefix-timestamp --prefix-output-with-timestamp", kLeftOut, 0,
     "put times in front of lines; `muster logs --merge` orders lines by them"},
    {"--verbose", kLeftOut, 0, kVerbose},
    {"--min-np --min-num-proc --max-np --max-num-proc --elastic-timeout --reset-limit --host-discovery-script",
     kLeftOut, 1, kElastic},
    {"--blacklist-cooldown-range", kLeftOut, 2, kElastic},
    {"--config-file", kRefused, 1, "reads settings from a file; give them as options"},
    {"-h --help -v --version -cb --check-build", kRefused, 0, kNothingStarts},
};

// The options of each launcher, as its documentation lists them.
std::span<const LauncherOption> OptionsOf(KnownLauncher launcher) {
  switch (launcher) {
    case KnownLauncher::kTorchrun:
    case KnownLauncher::kTorchLaunch:
      return kTorchrunTable;
    case KnownLauncher::kMsrun:
      return kMsrunTable;
    case KnownLauncher::kMpirun:
      return kMpirunTable;
    case KnownLauncher::kHydra:
      return kHydraTable;
    case KnownLauncher::kDeepspeed:
      return kDeepspeedTable;
    case KnownLauncher::kAccelerate:
      return kAccelerateTable;
    case KnownLauncher::kHorovodrun:
      return kHorovodrunTable;
  }
  return {};
}

const std::vector<LauncherFacts>& AllFacts() {
  static const std::vector<LauncherFacts> all = {
      {.launcher = KnownLauncher::kTorchrun,
       .name = "torchrun",
       .programs = "torchrun",
       .modules = "torch.distributed.run",
       .title = "torchrun",
       .framework = "torch",
       .options = OptionsOf(KnownLauncher::kTorchrun),
       .calls_python = true,
       .underscores = true,
       .beginnings = true},
      {.launcher = KnownLauncher::kTorchLaunch,
       .name = "torch.distributed.launch",
       .programs = "",
       .modules = "torch.distributed.launch",
       .title = "torchrun and python -m torch.distributed.launch",
       .framework = "torch",
       .options = OptionsOf(KnownLauncher::kTorchLaunch),
       .local_rank = "--local-rank=",
       .calls_python = true,
       .underscores = true,
       .beginnings = true},
      {.launcher = KnownLauncher::kMsrun,
       .name = "msrun",
       .programs = "msrun",
       .modules = "mindspore.parallel.cluster.run",
       .title = "msrun",
       .framework = "mindspore",
       .options = OptionsOf(KnownLauncher::kMsrun),
       .calls_python = true,
       .beginnings = true},
      {.launcher = KnownLauncher::kMpirun,
       .name = "mpirun",
       .programs = "mpirun mpiexec orterun prterun mpirun.openmpi mpiexec.openmpi",
       .modules = "",
       .title = "mpirun of Open MPI",
       .framework = "mpi",
       .options = OptionsOf(KnownLauncher::kMpirun),
       .any_dashes = true},
      {.launcher = KnownLauncher::kHydra,
       .name = "mpiexec.hydra",
       .programs = "mpiexec.hydra mpiexec mpirun mpirun.hydra mpiexec.mpich mpirun.mpich",
       .modules = "",
       .title = "mpiexec.hydra of MPICH and Intel MPI",
       .framework = "mpi",
       .options = OptionsOf(KnownLauncher::kHydra),
       .any_dashes = true},
      {.launcher = KnownLauncher::kDeepspeed,
       .name = "deepspeed",
       .programs = "deepspeed ds deepspeed.pt",
       .modules = "deepspeed.launcher.runner",
       .title = "deepspeed",
       .framework = "torch",
       .options = OptionsOf(KnownLauncher::kDeepspeed),
       .local_rank = "--local_rank=",
       .calls_python = true,
       .beginnings = true},
      {.launcher = KnownLauncher::kAccelerate,
       .name = "accelerate",
       .programs = "accelerate accelerate-launch",
       .modules = "accelerate.commands.launch accelerate.commands.accelerate_cli",
       .title = "accelerate launch",
       .framework = "torch",
       .options = OptionsOf(KnownLauncher::kAccelerate),
       .subcommand = "launch",
       .calls_python = true,
       .underscores = true},
      {.launcher = KnownLauncher::kHorovodrun,
       .name = "horovodrun",
       .programs = "horovodrun",
       .modules = "horovod.runner.launch horovod.runner horovod.run",
       .title = "horovodrun",
       .framework = "mpi",
       .options = OptionsOf(KnownLauncher::kHorovodrun),
       .beginnings = true},
  };
  return all;
}

constexpr std::string_view kOtherNames[][2] = {{"mpiexec", "mpirun"},
                                               {"orterun", "mpirun"},
                                               {"hydra", "mpiexec.hydra"},
                                               {"mpich", "mpiexec.hydra"},
                                               {"accelerate launch", "accelerate"}};

std::string_view WithoutDashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

// Calls `take` for each name of the option, until it returns true.
template <class Take>
bool AnyName(std::string_view names, const Take& take) {
  while (!names.empty()) {
    const std::size_t blank = std::min(names.find(' '), names.size());
    if (take(names.substr(0, blank))) return true;
    names.remove_prefix(std::min(blank + 1, names.size()));
  }
  return false;
}

// Normalises a name, so that two spellings of it are equal.
std::string Compared(const LauncherFacts& facts, std::string_view name) {
  std::string text(facts.any_dashes ? WithoutDashes(name) : name);
  if (facts.underscores) std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

// The counterpart of an option, for a table.
std::string Becomes(const LauncherOption& option) {
  switch (option.effect) {
    case OptionEffect::kHosts:
      return "`cluster.hosts`";
    case OptionEffect::kPerHost:
      return "`per_host`";
    case OptionEffect::kTotal:
      return "the number of workers";
    case OptionEffect::kHostList:
    case OptionEffect::kHostFile:
    case OptionEffect::kSlots:
    case OptionEffect::kExcludes:
      return "`cluster`; the head of the recipe has the words for `muster run --host`";
    case OptionEffect::kDevices:
      return "the head of the recipe has the words for `muster run --devices`";
    case OptionEffect::kRestarts:
      return "`restart = { max = N, scope = \"role\" }`";
    case OptionEffect::kModule:
      return "`command = { \"python3\", \"-m\", … }`";
    case OptionEffect::kNoPython:
      return "`command` without `python3`";
    case OptionEffect::kNoLocalRank:
      return "`command` without the local rank, which is otherwise its first argument";
    case OptionEffect::kFolder:
      return "`cwd`";
    case OptionEffect::kVariable:
      return "`env`; without a value given to mpirun";
    case OptionEffect::kVariableAndValue:
      return "`env`";
    case OptionEffect::kUnset:
      return "`env = { NAME = muster.unset }`";
    case OptionEffect::kSets:
    case OptionEffect::kSetsLower:
    case OptionEffect::kSetsMebibytes:
    case OptionEffect::kAssigns:
      return "`env`, the variable that the launcher sets";
    case OptionEffect::kKept:
    case OptionEffect::kMapping:
    case OptionEffect::kKeptWords:
      return "`args` of the framework `mpi`: given to mpirun";
    case OptionEffect::kConfigFile:
      return "read; its options are treated like those of the command line";
    case OptionEffect::kBinding:
      return "`cores = \"auto\"`, or `cores = N` where it lists N cores for each device; other lists are left out";
    case OptionEffect::kSimulation:
    case OptionEffect::kSimulatedRank:
      return "`framework = \"none\"` with `MS_SIMULATION_LEVEL`, `RANK_ID` and `RANK_SIZE`";
    case OptionEffect::kNodeRank:
      return "left out: it " + std::string(option.text) + "; with `--sim_level` the first rank";
    case OptionEffect::kTrueOrFalse:
    case OptionEffect::kLeftOut:
      return "left out: it " + std::string(option.text);
    case OptionEffect::kRefused:
      return "refused: it " + std::string(option.text);
  }
  return {};
}

std::string OptionTable(const LauncherFacts& facts) {
  std::string text = fmt::format("### {}\n\n| option | becomes |\n| --- | --- |\n", facts.title);
  std::vector<std::pair<std::string, std::string>> rows;  // counterpart, options
  for (const LauncherOption& option : facts.options) {
    // Only the older launcher passes the local rank to its program.
    if (option.effect == OptionEffect::kNoLocalRank && facts.local_rank.empty()) continue;
    const std::string becomes = Becomes(option);
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.first == becomes; });
    if (row == rows.end()) row = rows.insert(rows.end(), {becomes, {}});
    AnyName(option.names, [&](std::string_view name) {
      row->second += fmt::format("{}`{}`", row->second.empty() ? "" : ", ", name);
      return false;
    });
  }
  for (const auto& [becomes, options] : rows) text += fmt::format("| {} | {} |\n", options, becomes);
  return text;
}

}  // namespace

const LauncherFacts& FactsOf(KnownLauncher launcher) { return AllFacts()[static_cast<std::size_t>(launcher)]; }

std::optional<KnownLauncher> LauncherByName(std::string_view name) {
  for (const auto& [other, its] : kOtherNames) {
    if (name == other) name = its;
  }
  for (const LauncherFacts& facts : AllFacts()) {
    if (facts.name == name || facts.title == name) return facts.launcher;
  }
  return std::nullopt;
}

std::string LauncherNames(std::string_view last) {
  std::string text;
  for (const LauncherFacts& facts : AllFacts()) {
    if (facts.programs.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", facts.name);
  }
  return fmt::format("{} or {}", text, last);
}

const LauncherOption* FindOption(const LauncherFacts& facts, std::string_view name) {
  const std::string wanted = Compared(facts, name);
  const LauncherOption* beginning = nullptr;
  bool several = false;
  for (const LauncherOption& option : facts.options) {
    const bool found = AnyName(option.names, [&](std::string_view one) {
      const std::string known = Compared(facts, one);
      if (known == wanted) return true;
      if (facts.beginnings && wanted.size() > 2 && wanted.starts_with("--") && known.starts_with(wanted)) {
        // Options with the same effect may share a prefix.
        several = several || (beginning != nullptr && beginning != &option);
        beginning = &option;
      }
      return false;
    });
    if (found) return &option;
  }
  return several ? nullptr : beginning;
}

std::vector<std::string> OptionNames(const LauncherFacts& facts) {
  std::vector<std::string> names;
  for (const LauncherOption& option : facts.options) {
    AnyName(option.names, [&names](std::string_view name) {
      names.emplace_back(name);
      return false;
    });
  }
  return names;
}

std::string OptionTables() {
  std::string text;
  for (const LauncherFacts& facts : AllFacts()) {
    if (facts.launcher == KnownLauncher::kTorchrun) continue;  // the older launcher has all of its options and one more
    text += (text.empty() ? "" : "\n") + OptionTable(facts);
  }
  return text;
}

namespace {

bool HasWord(std::string_view words, std::string_view word) {
  const std::string padded = " " + std::string(words) + " ";
  return !word.empty() && padded.find(" " + std::string(word) + " ") != std::string::npos;
}

}  // namespace

bool IsPython(std::string_view word) {
  const std::string_view name = FileName(word);
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string_view::npos;
}

bool IsAssignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && IsIdentifier(word.substr(0, equals));
}

std::size_t WordsOfItsName(const LauncherFacts& facts, const std::vector<std::string>& words, std::size_t at) {
  if (at == words.size()) return 0;
  std::size_t end = at;
  if (IsPython(words[at])) {
    ++end;
    while (end < words.size() && words[end].starts_with('-') && words[end] != "-m") {
      end += words[end] == "-W" || words[end] == "-X" ? 2 : 1;
    }
    if (end < words.size() && HasWord(facts.programs, FileName(words[end]))) {
      ++end;  // python /opt/bin/torchrun
    } else if (end + 1 < words.size() && words[end] == "-m" && HasWord(facts.modules, words[end + 1])) {
      end += 2;
    } else {
      return 0;
    }
    if (facts.subcommand.empty() || words[end - 1].ends_with("." + std::string(facts.subcommand))) return end - at;
  } else if (HasWord(facts.programs, FileName(words[at]))) {
    ++end;
    if (FileName(words[at]).ends_with("-" + std::string(facts.subcommand))) return end - at;
  } else {
    return 0;
  }
  if (!facts.subcommand.empty() && end < words.size() && words[end] == facts.subcommand) ++end;
  return end - at;
}

std::optional<KnownLauncher> LauncherOfWords(const std::vector<std::string>& words) {
  std::size_t at = 0;
  while (at < words.size() && IsAssignment(words[at])) ++at;
  for (std::size_t i = 0; i < kLauncherCount; ++i) {
    const auto launcher = static_cast<KnownLauncher>(i);
    if (WordsOfItsName(FactsOf(launcher), words, at) > 0) return launcher;
  }
  return std::nullopt;
}

}  // namespace muster
