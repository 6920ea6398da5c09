#include "plan/environment/host_variables.h"

#include <algorithm>
#include <array>

#include "plan/environment/site_environment.h"

namespace muster {
namespace {

// Devices: the guides of CUDA, CANN, ROCm, oneAPI, AWS Neuron and Cloud TPU. SLURM_*: srun(1), "output environment
// variables", those that differ between the nodes of a step. SSH_*: ssh(1). XDG_*: XDG Base Directory Specification and
// pam_systemd(8). INVOCATION_ID to WATCHDOG_USEC: systemd.exec(5). HCCL_IF_IP: CANN, the address of the host itself.
constexpr std::array<std::string_view, 51> kHostVariables = {
    "ASCEND_DEVICE_ID",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_VISIBLE_DEVICES",
    "CUDA_MPS_LOG_DIRECTORY",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_VISIBLE_DEVICES",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "GOMP_CPU_AFFINITY",
    "GPU_DEVICE_ORDINAL",
    "HCCL_IF_IP",
    "HIP_VISIBLE_DEVICES",
    "HOST",
    "HOSTNAME",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NEURON_RT_VISIBLE_CORES",
    "NOTIFY_SOCKET",
    "NVIDIA_VISIBLE_DEVICES",
    "POD_IP",
    "POD_NAME",
    "ROCR_VISIBLE_DEVICES",
    "SGE_BINDING",
    "SLURMD_NODENAME",
    "SLURM_CPUS_ON_NODE",
    "SLURM_GPUS_ON_NODE",
    "SLURM_JOB_GPUS",
    "SLURM_NODEID",
    "SLURM_STEP_GPUS",
    "SSH_AUTH_SOCK",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "STY",
    "TEMP",
    "TEMPDIR",
    "TMP",
    "TMPDIR",
    "TMUX",
    "TMUX_PANE",
    "TPU_VISIBLE_CHIPS",
    "TPU_VISIBLE_DEVICES",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_ID",
    "ZE_AFFINITY_MASK",
};
static_assert(std::is_sorted(kHostVariables.begin(), kHostVariables.end()));

}  // namespace

std::span<const std::string_view> HostVariableNames() { return kHostVariables; }

std::vector<std::string> WithoutHostVariables(std::vector<std::string> caller) {
  std::erase_if(caller, [](const std::string& entry) {
    return std::binary_search(kHostVariables.begin(), kHostVariables.end(),
                              std::string_view(entry).substr(0, entry.find('=')));
  });
  return caller;
}

std::vector<std::string> HostVariablesAtSite(const SiteEnvironment& site) {
  std::vector<std::string> names;
  for (const std::string_view name : kHostVariables) {
    const std::string inherited = std::string(name) + "=";
    const std::vector<std::string> left = InheritedAtSite(site, {inherited});
    if (!site.set.contains(std::string(name)) && std::find(left.begin(), left.end(), inherited) != left.end()) {
      names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace muster
