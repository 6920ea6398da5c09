#include "run/hosts/host_probe_findings.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace muster {
namespace {

// With less locked memory than this, RDMA libraries of accelerators cannot register their buffers.
constexpr std::uint64_t kLeastLocked = std::uint64_t{64} << 20;

struct KnownTrial {
  std::string_view what;
  std::string_view breaks;
  std::string_view mend;
};

constexpr std::array<KnownTrial, 7> kMechanisms = {{
    {"pidfd", "processes are watched by SIGCHLD and pids, which wrap", "a kernel from 5.4; uname -r"},
    {"close_range", "every start walks over all descriptors", "a kernel from 5.9; uname -r"},
    {"clone_cgroup", "the agent has to enter its cgroup itself, some milliseconds at the start",
     "a kernel from 5.7, or a seccomp profile of the container that allows clone3"},
    {"landlock", "only seccomp prevents recipes from opening files",
     "a kernel from 5.13 with lsm=…,landlock on its command line: cat /sys/kernel/security/lsm"},
    {"seccomp", "only a limit of descriptors isolates recipes from the system", "a kernel with CONFIG_SECCOMP_FILTER"},
    {"user_namespaces", "--isolate pid is for root only",
     "sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1"},
    {"subreaper", "daemonised processes cannot be identified", "a kernel from 3.4"},
}};

// The program that lists devices of that kind.
std::string DriverOf(std::string_view kind) {
  if (kind == "cuda") return "nvidia-smi";
  if (kind == "hip") return "rocm-smi";
  return "npu-smi info";
}

HostFault Finding(std::uint32_t host, std::string kind, std::string text, std::string breaks, std::string mend) {
  return {std::move(kind), std::move(text), std::move(mend), {host}, std::move(breaks)};
}

}  // namespace

std::string BreaksOf(std::string_view kind) {
  using Known = std::pair<std::string_view, const char*>;
  constexpr std::array<Known, 7> kKnown = {
      {{"unreachable", "nothing can be started there"},
       {"clock", "logs and events of hosts come in the wrong order, and tokens expire early"},
       {"unseen", "a start there may hang as this did"},
       {"version", "agent and head may be incompatible"},
       {"limit", "some processes of the plan cannot be started there"},
       {"program", "its processes fail at their start, at spawn stage exec"},
       {"devices", "processes are given devices that do not exist"}}};
  const auto* const found =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& known) { return known.first == kind; });
  return found == kKnown.end() ? "" : found->second;
}

std::string BreaksOfDisk(std::string_view what) {
  if (what == "run directory") return "the journal and the logs of a run cannot be written";
  if (what == "/dev/shm") return "data loaders and collectives that share memory fail, often with SIGBUS";
  if (what == "folder of shipped code") return "--ship-code fails";
  return "compilers and programs that keep temporary files fail";
}

std::vector<HostFault> FaultsOfTrials(std::uint32_t host, const HostFacts& facts) {
  std::vector<HostFault> faults;
  for (const HostCheck& trial : facts.trials) {
    if (trial.kind == "mechanism" && trial.what == "memfd" && !trial.error.empty()) {
      faults.push_back(Finding(host, "mechanism", "there is no memfd_create: " + trial.error,
                               "nothing can be run: agents pass data to processes through it",
                               "a seccomp profile of the container that allows memfd_create"));
    }
    if (trial.kind != "node" || trial.error.empty()) continue;
    faults.push_back(Finding(
        host, "node", fmt::format("{} cannot be opened: {}", trial.what, trial.error),
        "processes cannot use the device, although it is counted",
        fmt::format("ls -l {}; add this user to the group that it belongs to: usermod -aG GROUP USER", trial.what)));
  }
  for (const auto& [kind, version] : facts.drivers) {
    const bool any = std::any_of(facts.trials.begin(), facts.trials.end(),
                                 [](const HostCheck& trial) { return trial.kind == "node"; });
    if (facts.trials.empty() || any || facts.devices > 0) continue;
    faults.push_back(Finding(host, "node",
                             fmt::format("driver {} {} is loaded, but has no device nodes", kind, version),
                             "no process can use a device",
                             DriverOf(kind) + " creates them or reports why not; in a container, pass them in"));
  }
  return faults;
}

std::vector<HostFault> LacksOfHost(std::uint32_t host, const HostFacts& facts) {
  std::vector<HostFault> lacks;
  for (const HostCheck& trial : facts.trials) {
    if (trial.error.empty()) continue;
    if (trial.kind == "mechanism" && trial.what != "memfd") {
      const auto* const known = std::find_if(kMechanisms.begin(), kMechanisms.end(),
                                             [&](const KnownTrial& each) { return each.what == trial.what; });
      lacks.push_back(Finding(host, trial.kind, fmt::format("there is no {}: {}", trial.what, trial.error),
                              known == kMechanisms.end() ? "" : std::string(known->breaks),
                              known == kMechanisms.end() ? "" : std::string(known->mend)));
    } else if (trial.kind == "cgroup") {
      lacks.push_back(
          Finding(host, trial.kind, "no cgroup is delegated: " + trial.error,
                  "leftovers are killed process by process instead of all at once",
                  "systemd-run --user --scope -p Delegate=yes muster …, or a cgroup of version 2 that this user owns"));
    } else if (trial.kind == "name") {
      lacks.push_back(
          Finding(host, trial.kind, fmt::format("the host's own name, {}: {}", trial.what, trial.error),
                  "gloo, MPI and others that look up their own host name fail or listen on an unreachable address",
                  fmt::format("a line in /etc/hosts, ADDRESS {}, or its name in the DNS", trial.what)));
    } else if (trial.kind == "ports") {
      lacks.push_back(Finding(host, trial.kind, "few ports for connections: " + trial.error,
                              "jobs of many processes run out of ports",
                              "sysctl -w net.ipv4.ip_local_port_range='32768 60999'"));
    } else if (trial.kind == "time") {
      lacks.push_back(Finding(host, trial.kind, "the clock is not synchronised: " + trial.error,
                              "times of several hosts drift apart", "systemctl enable --now chrony"));
    }
  }
  const bool tried = !facts.trials.empty();
  if (tried && facts.devices > 0 && !facts.drivers.contains(facts.device_kind)) {
    lacks.push_back(Finding(host, "driver", fmt::format("unknown driver version of {}", facts.device_kind),
                            "different driver versions on hosts are not detected", DriverOf(facts.device_kind)));
  }
  for (const LimitFact& limit : facts.limits) {
    if (!tried || facts.devices == 0 || limit.name != "memlock" || limit.soft >= kLeastLocked) continue;
    lacks.push_back(Finding(host, "memlock", fmt::format("the limit memlock is {} bytes", limit.soft),
                            "libraries that use RDMA cannot register memory",
                            "memlock unlimited in limits.conf(5), LimitMEMLOCK=infinity of sshd's service"));
  }
  return lacks;
}

}  // namespace muster
