#include "agent/host/host_probes.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "spawn/leftovers/confinement.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kFewPorts = 1'000;

std::string ErrorOf(long result) { return result < 0 ? std::strerror(errno) : ""; }

// ENOSYS means that the call is missing; other errors are about its arguments.
std::string MissingOf(long result) { return result < 0 && errno == ENOSYS ? std::strerror(errno) : ""; }

std::string FirstLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string TryPidfd() {
  const UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  return fd ? "" : std::strerror(errno);
}

std::string TryMemfd() {
  const UniqueFd fd(::memfd_create("muster-trial", MFD_CLOEXEC));
  return fd ? "" : std::strerror(errno);
}

std::string TryLandlock() {
  constexpr unsigned kAskVersion = 1;  // landlock_create_ruleset(2)
  return ErrorOf(::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion));
}

std::string TryUserNamespaces(const std::string& root) {
  if (::geteuid() == 0) return {};
  if (FirstLineOf(root + "proc/sys/kernel/unprivileged_userns_clone") == "0")
    return "kernel.unprivileged_userns_clone is 0";
  if (FirstLineOf(root + "proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "kernel.apparmor_restrict_unprivileged_userns is 1";
  }
  if (FirstLineOf(root + "proc/sys/user/max_user_namespaces") == "0") return "user.max_user_namespaces is 0";
  return {};
}

// Device files that processes open: those that DeviceKinds counts, and related control files.
bool IsDeviceNode(std::string_view name) {
  const auto numbered = [name](std::string_view prefix) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
    return name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
  };
  return numbered("davinci") || numbered("nvidia") || name == "davinci_manager" || name == "nvidiactl" ||
         name == "nvidia-uvm" || name == "kfd";
}

void TryNodes(const std::string& root, std::vector<HostCheck>& trials) {
  std::vector<std::string> nodes;
  std::error_code error;
  for (fs::directory_iterator it(root + "dev", error), end; !error && it != end; it.increment(error)) {
    if (IsDeviceNode(it->path().filename().string())) nodes.push_back(it->path());
  }
  std::sort(nodes.begin(), nodes.end());
  for (const std::string& node : nodes) {
    trials.push_back({"node", "/" + node.substr(root.size()), ErrorOf(::access(node.c_str(), R_OK | W_OK))});
  }
}

std::string TryPorts(const std::string& root) {
  std::ifstream file(root + "proc/sys/net/ipv4/ip_local_port_range");
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  if (!(file >> first >> last) || last < first || last - first + 1 >= kFewPorts) return {};
  return fmt::format("{} ports, {} to {}", last - first + 1, first, last);
}

std::string TryClock() {
  timex clock = {};
  const int state = ::adjtimex(&clock);
  if (state < 0) return {};  // not permitted, as in some containers
  return state == TIME_ERROR || (clock.status & STA_UNSYNC) != 0 ? "nothing keeps it in time" : "";
}

}  // namespace

std::vector<HostCheck> TryHost(const std::string& root) {
  std::vector<HostCheck> trials = {
      {"mechanism", "pidfd", TryPidfd()},
      {"mechanism", "close_range", MissingOf(::syscall(SYS_close_range, ~0U, ~0U, 0))},
      {"mechanism", "clone_cgroup", MissingOf(::syscall(SYS_clone3, nullptr, 0))},
      {"mechanism", "landlock", TryLandlock()},
      {"mechanism", "seccomp", ErrorOf(::prctl(PR_GET_SECCOMP, 0, 0, 0, 0))},
      {"mechanism", "memfd", TryMemfd()},
      {"mechanism", "user_namespaces", TryUserNamespaces(root)},
  };
  int subreaper = 0;
  trials.push_back({"mechanism", "subreaper", ErrorOf(::prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0))});
  const auto cgroup = Cgroup::MakeBelowOwn(fmt::format("muster-trial-{}", ::getpid()));
  trials.push_back({"cgroup", "a group of its own", cgroup ? "" : "it cannot be made below the agent's own"});
  TryNodes(root, trials);
  trials.push_back({"ports", "ip_local_port_range", TryPorts(root)});
  trials.push_back({"time", "the clock", TryClock()});
  return trials;
}

HostCheck NameTrial(const std::string& name, const std::string& output, bool ended_well) {
  HostCheck trial{"name", name, {}};
  const std::string address = output.substr(0, output.find_first_of(" \t\n"));
  if (!ended_well || address.empty()) {
    trial.error = "it has no address";
  } else if (address.starts_with("127.") || address == "::1") {
    trial.error = "it is " + address + ", which other hosts cannot reach";
  }
  return trial;
}

}  // namespace muster
