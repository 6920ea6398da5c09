#include "plan/environment/inherited_environment.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

namespace muster {
namespace {

// Slurm, Open MPI and PMI set these for the processes that they start, including muster.
constexpr std::array<std::string_view, 4> kOfLaunchers = {"SLURM_*", "OMPI_*", "PMIX_*", "PMI_*"};

bool IsOfLauncher(std::string_view name) {
  return std::any_of(kOfLaunchers.begin(), kOfLaunchers.end(),
                     [&](std::string_view pattern) { return Matches(pattern, name); });
}

}  // namespace

std::vector<std::string> RemovedByContract(
    const Plan& plan, const std::map<std::string, std::map<std::string, VariableSource>>& provenance,
    const std::vector<std::string>& inherited) {
  std::set<std::string> removed;
  for (const Role& role : plan.roles) {
    const auto sources = provenance.find(role.name);
    if (sources == provenance.end()) continue;
    for (const std::string& pattern : role.unset) {
      const auto source = sources->second.find(pattern);
      // Without an entry, the contract also sets the variable, so that its source is not that of an unset.
      const bool by_contract = source == sources->second.end() || source->second.layer == Layer::kContract;
      if (!by_contract) continue;
      for (const std::string& entry : inherited) {
        const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
        if (Matches(pattern, name) && !IsOfLauncher(name)) removed.emplace(name);
      }
    }
  }
  return {removed.begin(), removed.end()};
}

std::vector<std::string> InheritedAtSite(const SiteEnvironment& site, const std::vector<std::string>& inherited) {
  if (site.empty()) return inherited;
  const auto covered = [](const std::vector<std::string>& patterns, std::string_view name) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [name](const std::string& pattern) { return Matches(pattern, name); });
  };
  std::vector<std::string> environment;
  environment.reserve(inherited.size() + site.set.size());
  for (const std::string& entry : inherited) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (!site.pass.empty() && name != "PATH" && !covered(site.pass, name)) continue;
    if (covered(site.unset, name) || site.set.contains(std::string(name))) continue;
    environment.push_back(entry);
  }
  for (const auto& [name, value] : site.set) environment.push_back(name + "=" + value);
  return environment;
}

namespace {

// Devices: the guides of CUDA, CANN, ROCm, oneAPI, AWS Neuron, Cloud TPU, Gaudi, Cambricon and MUSA. SLURM_*: srun(1),
// "output environment variables", those that differ between the nodes of a step. PBS_*, SGE_*, PE_*, LSB_*: the man
// pages of these engines, files and bindings of one node. SSH_*: ssh(1). XDG_*: XDG Base Directory Specification and
// pam_systemd(8). CREDENTIALS_DIRECTORY to WATCHDOG_USEC: systemd.exec(5). HCCL_IF_IP, DMLC_NODE_HOST, VLLM_HOST_IP:
// the address of the host itself.
constexpr std::array<std::string_view, 90> kHostVariables = {
    "AMD_VISIBLE_DEVICES",
    "ASCEND_DEVICE_ID",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_VISIBLE_DEVICES",
    "CLOUD_TPU_TASK_ID",
    "CREDENTIALS_DIRECTORY",
    "CUDA_MPS_LOG_DIRECTORY",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_VISIBLE_DEVICES",
    "DBUS_SESSION_BUS_ADDRESS",
    "DEVICE_ID",
    "DISPLAY",
    "DMLC_NODE_HOST",
    "GOMP_CPU_AFFINITY",
    "GPG_AGENT_INFO",
    "GPG_TTY",
    "GPU_DEVICE_ORDINAL",
    "HABANA_VISIBLE_DEVICES",
    "HABANA_VISIBLE_MODULES",
    "HCCL_IF_IP",
    "HIP_VISIBLE_DEVICES",
    "HOME",
    "HOST",
    "HOSTNAME",
    "HOST_IP",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "KRB5CCNAME",
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LOGNAME",
    "LSB_BIND_CPU_LIST",
    "LSB_BIND_MEM_LIST",
    "MAINPID",
    "MANAGERPID",
    "MLU_VISIBLE_DEVICES",
    "MTHREADS_VISIBLE_DEVICES",
    "MUSA_VISIBLE_DEVICES",
    "NEURON_RT_VISIBLE_CORES",
    "NOTIFY_SOCKET",
    "NPU_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "PBS_GPUFILE",
    "PBS_JOBDIR",
    "PBS_TMPDIR",
    "POD_IP",
    "POD_NAME",
    "ROCR_VISIBLE_DEVICES",
    "RUNTIME_DIRECTORY",
    "SESSION_MANAGER",
    "SGE_BINDING",
    "SGE_JOB_SPOOL_DIR",
    "SLURMD_NODENAME",
    "SLURM_CPUS_ON_NODE",
    "SLURM_GPUS_ON_NODE",
    "SLURM_JOB_GPUS",
    "SLURM_NODEID",
    "SLURM_SHARDS_ON_NODE",
    "SLURM_STEP_GPUS",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "STY",
    "SYSTEMD_EXEC_PID",
    "TEMP",
    "TEMPDIR",
    "TMP",
    "TMPDIR",
    "TMUX",
    "TMUX_PANE",
    "TPU_VISIBLE_CHIPS",
    "TPU_VISIBLE_DEVICES",
    "TPU_WORKER_ID",
    "USER",
    "VLLM_HOST_IP",
    "VSCODE_IPC_HOOK_CLI",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "WAYLAND_DISPLAY",
    "WINDOWID",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "XDG_SEAT",
    "XDG_SESSION_ID",
    "XDG_VTNR",
    "XPU_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK",
};
static_assert(std::is_sorted(kHostVariables.begin(), kHostVariables.end()));

// Settings for any host, unless they contain one of these characters: then they name cores or devices by their numbers.
// OpenMP 5.0, OMP_PLACES; Intel, KMP_AFFINITY; SYCL, ONEAPI_DEVICE_SELECTOR.
struct NumberedVariable {
  std::string_view name;
  std::string_view signs;
};
constexpr std::array<NumberedVariable, 3> kNumberedVariables = {
    {{"KMP_AFFINITY", "["}, {"OMP_PLACES", "{"}, {"ONEAPI_DEVICE_SELECTOR", "0123456789"}}};

// What commands of engines need to start agents on other hosts, and what is the same on all hosts of a cluster there:
// its user, its credentials, and folders that a batch script has made on each.
constexpr std::array<std::string_view, 11> kNeededByStarts = {
    "HOME", "KRB5CCNAME", "LOGNAME", "SGE_JOB_SPOOL_DIR", "SSH_AGENT_PID", "SSH_AUTH_SOCK", "TEMP", "TEMPDIR",
    "TMP",  "TMPDIR",     "USER"};
static_assert(std::is_sorted(kNeededByStarts.begin(), kNeededByStarts.end()));

bool IsOfHost(std::string_view entry) {
  const std::string_view name = entry.substr(0, entry.find('='));
  if (std::binary_search(kHostVariables.begin(), kHostVariables.end(), name)) return true;
  return std::any_of(kNumberedVariables.begin(), kNumberedVariables.end(), [&](const NumberedVariable& variable) {
    return variable.name == name && entry.find_first_of(variable.signs, name.size()) != std::string_view::npos;
  });
}

}  // namespace

std::span<const std::string_view> HostVariableNames() { return kHostVariables; }

std::vector<std::string> WithoutHostVariables(std::vector<std::string> caller) {
  std::erase_if(caller, IsOfHost);
  return caller;
}

std::vector<std::string> HostVariablesOfCaller(const std::vector<std::string>& caller) {
  std::vector<std::string> names;
  for (const std::string& entry : caller) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (!IsOfHost(entry) || std::binary_search(kNeededByStarts.begin(), kNeededByStarts.end(), name)) continue;
    names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> HostVariablesAtSite(const SiteEnvironment& site) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    const std::string inherited = std::string(name) + "=";
    const std::vector<std::string> left = InheritedAtSite(site, {inherited});
    if (!site.set.contains(std::string(name)) && std::find(left.begin(), left.end(), inherited) != left.end()) {
      names.emplace_back(name);
    }
  };
  for (const std::string_view name : kHostVariables) add(name);
  // A setting of the caller that is left precedes that of the host.
  for (const NumberedVariable& variable : kNumberedVariables) add(variable.name);
  return names;
}

namespace {

constexpr char kVariable[] = "PYTHONPATH";

const std::string& Folder() {
  static const std::string kFolder =
      PlaceholderText({Placeholder::Kind::kRunDir, {}, 0}) + '/' + std::string(kPythonFolder);
  return kFolder;
}

// "train.py", also within a shell text: "cd src && ./train.py --lr 0.1".
bool NamesScript(std::string_view word) {
  constexpr std::string_view kEnding = ".py";
  for (std::size_t at = word.find(kEnding); at != word.npos; at = word.find(kEnding, at + 1)) {
    const std::size_t after = at + kEnding.size();
    if (after == word.size() || std::string_view(" \t\n;&|)'\"").find(word[after]) != std::string_view::npos)
      return true;
  }
  return false;
}

// Programs that are scripts of Python themselves, or start one that their other words name without its ending.
bool IsPythonProgram(std::string_view word) {
  static constexpr std::string_view kPrograms[] = {"accelerate", "deepspeed", "horovodrun", "ipython",
                                                   "jupyter",    "msrun",     "pytest",     "torchrun"};
  word.remove_prefix(word.rfind('/') == word.npos ? 0 : word.rfind('/') + 1);
  return std::any_of(std::begin(kPrograms), std::end(kPrograms), [&](std::string_view name) { return word == name; });
}

}  // namespace

Text PythonPath(PythonUse use) {
  switch (use) {
    case PythonUse::kNone:
      return {};
    case PythonUse::kOffered:
      return Folder();
    case PythonUse::kApplied:
      // The folder with the sitecustomize module first: that module then loads the one after it.
      return Folder() + "/site:" + Folder();
  }
  return {};
}

PythonUse PythonUseOf(const Variables& env) {
  const auto path = env.find(kVariable);
  if (path == env.end()) return PythonUse::kNone;
  for (const PythonUse use : {PythonUse::kApplied, PythonUse::kOffered}) {
    if (path->second.marked.starts_with(PythonPath(use).marked)) return use;
  }
  return PythonUse::kNone;
}

bool WantsPython(const Plan& plan) {
  const auto wants = [](const auto& holder) { return PythonUseOf(holder.env) != PythonUse::kNone; };
  return std::any_of(plan.roles.begin(), plan.roles.end(), wants) ||
         std::any_of(plan.processes.begin(), plan.processes.end(), wants);
}

bool RunsPython(const std::vector<Text>& command) {
  if (command.empty()) return false;
  std::string_view program = command.front().marked;
  program.remove_prefix(program.rfind('/') == std::string_view::npos ? 0 : program.rfind('/') + 1);
  return program.starts_with("python") || program.ends_with(".py");
}

bool MentionsPython(const std::vector<Text>& command) {
  return RunsPython(command) || std::any_of(command.begin(), command.end(), [](const Text& word) {
           const std::string_view text = word.marked;
           return text.find("python") != std::string_view::npos || NamesScript(text) || IsPythonProgram(text);
         });
}

}  // namespace muster
