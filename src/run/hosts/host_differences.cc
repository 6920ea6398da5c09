#include "run/hosts/host_differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "plan/environment/inherited_environment.h"
#include "plan/hosts/host_list.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_files.h"
#include "run/start/start_specs.h"

namespace muster {
namespace {

// With less locked memory than this, RDMA libraries of accelerators cannot register their buffers.
constexpr std::uint64_t kMinLocked = std::uint64_t{64} << 20;

struct KnownTrial {
  std::string_view what;
  std::string_view effect;
  std::string_view fix;
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

HostFault Finding(std::uint32_t host, std::string kind, std::string text, std::string effect, std::string fix) {
  return {std::move(kind), std::move(text), std::move(fix), {host}, std::move(effect)};
}

}  // namespace

std::string EffectOf(std::string_view kind) {
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

std::string EffectOfDisk(std::string_view what) {
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
                              known == kMechanisms.end() ? "" : std::string(known->effect),
                              known == kMechanisms.end() ? "" : std::string(known->fix)));
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
    if (!tried || facts.devices == 0 || limit.name != "memlock" || limit.soft >= kMinLocked) continue;
    lacks.push_back(Finding(host, "memlock", fmt::format("the limit memlock is {} bytes", limit.soft),
                            "libraries that use RDMA cannot register memory",
                            "memlock unlimited in limits.conf(5), LimitMEMLOCK=infinity of sshd's service"));
  }
  return lacks;
}

namespace {

// Descriptors that an agent needs for each process, and for itself (agent/parts/running_processes.cc,
// CheckDescriptors).
constexpr std::uint64_t kDescriptorsPerProcess = 3;
constexpr std::uint64_t kDescriptorsOfAgent = 32;

constexpr const char* kNone = "none";

std::string LimitNumber(std::uint64_t value) {
  return value == LimitFact::kUnlimited ? "unlimited" : fmt::format("{}", value);
}

// Groups faults with the same text, so that hosts with the same fault are reported together.
class Faults {
 public:
  void Add(std::uint32_t host, std::string kind, std::string text, std::string hint = {}, std::string effect = {}) {
    if (effect.empty()) effect = EffectOf(kind);
    Add(HostFault{std::move(kind), std::move(text), std::move(hint), {host}, std::move(effect)});
  }
  void Add(HostFault found) {
    for (HostFault& fault : faults_) {
      if (fault.kind != found.kind || fault.text != found.text) continue;
      if (fault.hosts.back() != found.hosts.front()) fault.hosts.push_back(found.hosts.front());
      return;
    }
    faults_.push_back(std::move(found));
  }
  std::vector<HostFault> Take() {
    // Groups faults by kind; kinds are in the order of their first fault.
    std::vector<HostFault> ordered;
    std::set<std::string> done;
    for (const HostFault& first : faults_) {
      if (!done.insert(first.kind).second) continue;
      for (const HostFault& fault : faults_) {
        if (fault.kind == first.kind) ordered.push_back(fault);
      }
    }
    return ordered;
  }

 private:
  std::vector<HostFault> faults_;
};

void JudgeClock(std::uint32_t host, const ClockEstimate& clock, Faults& faults) {
  const auto off = static_cast<std::uint64_t>(std::abs(clock.offset_ns));
  if (off <= clock.error_ns + kMaxClockNs) return;
  const double seconds = std::round(InSeconds(off));
  faults.Add(
      host, "clock",
      fmt::format("the clock is {:.0f} s {} this machine's", seconds, clock.offset_ns > 0 ? "ahead of" : "behind"),
      "synchronise both with the same server: systemctl enable --now chrony");
}

void JudgeDisks(std::uint32_t host, const HostFacts& facts, Faults& faults) {
  for (const DiskFact& disk : facts.disks) {
    const std::string place = disk.what.starts_with('/') ? disk.what : fmt::format("the {} ({})", disk.what, disk.path);
    const std::string room =
        disk.what == "run directory"
            ? "free space, or keep runs elsewhere: --run-dir, MUSTER_HOME, run_root of the site file"
        : disk.what == "/dev/shm" ? "mount -o remount,size=50% /dev/shm, and remove leftover files"
                                  : "remove leftover files: du -xsh " + disk.path + "/*";
    if (!disk.error.empty() && disk.what.starts_with('/') && disk.path != disk.what) {
      faults.Add(host, "disk", fmt::format("{} does not exist", place),
                 disk.what == "/dev/shm" ? "mount -t tmpfs tmpfs /dev/shm; in a container: --shm-size"
                                         : "mkdir -m 1777 " + disk.what,
                 EffectOfDisk(disk.what));
    } else if (!disk.error.empty()) {
      faults.Add(host, "disk", fmt::format("{} cannot be used: {}", place, disk.error),
                 "let this user write there: ls -ld " + disk.path, EffectOfDisk(disk.what));
    } else if (disk.bytes > 0 && disk.free_bytes < kMinFreeBytes) {
      faults.Add(host, "disk", fmt::format("{} is full: less than {} are free", place, RoughBytes(kMinFreeBytes)), room,
                 EffectOfDisk(disk.what));
    } else if (disk.inodes > 0 && disk.free_inodes < kMinFreeInodes) {
      faults.Add(host, "disk", fmt::format("{} is full: less than {} inodes are free", place, kMinFreeInodes),
                 "df -i " + disk.path + "; remove small files", EffectOfDisk(disk.what));
    }
  }
}

void JudgeLimits(std::uint32_t host, const HostFacts& facts, const HostNeeds& needs, Faults& faults) {
  for (const LimitFact& limit : facts.limits) {
    if (limit.name == "nofile") {
      const std::uint64_t wanted = kDescriptorsPerProcess * needs.processes + kDescriptorsOfAgent;
      if (limit.hard >= wanted) continue;
      faults.Add(host, "limit",
                 fmt::format("the hard limit nofile is {}: the agent needs {} descriptors for {} processes",
                             LimitNumber(limit.hard), wanted, needs.processes),
                 "ulimit -Hn, then limits.conf(5), or LimitNOFILE= of sshd's service");
    } else if (limit.name == "nproc" && !facts.root && limit.soft < needs.processes) {
      faults.Add(host, "limit",
                 fmt::format("the limit nproc is {}: the plan has {} processes there", LimitNumber(limit.soft),
                             needs.processes),
                 "ulimit -Su, then limits.conf(5)");
    }
  }
}

void JudgeNeeds(std::uint32_t host, const HostFacts& facts, const HostNeeds& needs, Faults& faults) {
  JudgeLimits(host, facts, needs, faults);
  for (const ProgramFact& program : facts.programs) {
    if (!program.path.empty()) continue;
    if (std::find(needs.programs.begin(), needs.programs.end(), program.name) == needs.programs.end()) continue;
    faults.Add(host, "program", fmt::format("{} cannot be started: {}", program.name, program.error),
               "install it there, or put its folder on PATH; job:activate loads modules and conda environments");
  }
  if (facts.devices > 0 && facts.devices < needs.devices) {
    faults.Add(
        host, "devices",
        fmt::format("there are {} devices ({}), the plan needs {}", facts.devices, facts.device_kind, needs.devices),
        "devices_per_host=" + std::to_string(facts.devices) + ", or another host");
  }
}

// The value for a host that lacks a subject which other hosts have.
std::string Absent(std::string_view subject) { return subject.starts_with("variable ") ? "not set" : kNone; }

std::vector<HostDifference> Differences(std::span<const InspectedHost> hosts) {
  std::vector<std::map<std::string, std::string>> reported(hosts.size());
  std::vector<std::string> subjects;
  std::set<std::string> known;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!hosts[i].why.empty()) continue;
    for (FactLine& fact : FactLines(hosts[i].facts)) {
      if (known.insert(fact.subject).second) subjects.push_back(fact.subject);
      reported[i].insert_or_assign(std::move(fact.subject), std::move(fact.value));
    }
  }
  std::vector<HostDifference> differences;
  for (const std::string& subject : subjects) {
    HostDifference difference{subject, {}};
    for (std::uint32_t i = 0; i < hosts.size(); ++i) {
      // Facts that could not be determined are reported as a fault, not as a difference.
      const auto found = reported[i].find(subject);
      if (!hosts[i].why.empty() || (found == reported[i].end() && !hosts[i].missing.empty())) continue;
      const std::string value = found == reported[i].end() ? Absent(subject) : found->second;
      const auto variant = std::find_if(difference.variants.begin(), difference.variants.end(),
                                        [&](const HostVariant& each) { return each.value == value; });
      if (variant == difference.variants.end()) {
        difference.variants.push_back({value, {i}});
      } else {
        variant->hosts.push_back(i);
      }
    }
    if (difference.variants.size() < 2) continue;
    std::stable_sort(difference.variants.begin(), difference.variants.end(),
                     [](const HostVariant& a, const HostVariant& b) { return a.hosts.size() > b.hosts.size(); });
    differences.push_back(std::move(difference));
  }
  return differences;
}

bool NeedsNoBinding(const Text& text) {
  const auto pieces = Pieces(text);
  return pieces && std::all_of(pieces->begin(), pieces->end(), [](const TextPiece& piece) { return !piece.hole; });
}

HostNeeds NeedsOfAny(std::span<const HostNeeds> needs) {
  HostNeeds any;
  for (const HostNeeds& each : needs) {
    any.processes = std::max(any.processes, each.processes);
    for (const std::string& program : each.programs) {
      if (std::find(any.programs.begin(), any.programs.end(), program) == any.programs.end()) {
        any.programs.push_back(program);
      }
    }
  }
  return any;
}

}  // namespace

std::string RoughBytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (value < 10) return fmt::format("{:.2g} {}", value, kUnits[unit]);
  const double step = value < 100 ? 1 : 10;
  return fmt::format("{:.0f} {}", std::round(value / step) * step, kUnits[unit]);
}

std::vector<FactLine> FactLines(const HostFacts& facts) {
  std::vector<FactLine> reported = {
      {"muster", facts.muster},
      {"system", facts.system},
      {"kernel", facts.kernel},
      {"machine", facts.machine},
      {"cores", std::to_string(facts.cores)},
      {"memory", RoughBytes(facts.memory_bytes)},
      {"devices", facts.devices == 0 ? kNone : fmt::format("{} {}", facts.devices, facts.device_kind)}};
  for (const auto& [kind, version] : facts.drivers) reported.push_back({"driver " + kind, version});
  for (const LimitFact& limit : facts.limits) {
    reported.push_back(
        {"limit " + limit.name, fmt::format("{} (hard {})", LimitNumber(limit.soft), LimitNumber(limit.hard))});
  }
  for (const DiskFact& disk : facts.disks) {
    reported.push_back({"disk of " + disk.what, fmt::format("{} of {}", disk.kind, RoughBytes(disk.bytes))});
  }
  for (const ProgramFact& program : facts.programs) {
    reported.push_back({"program " + program.name, program.path.empty() ? program.error : program.path});
  }
  for (const PythonFact& python : facts.pythons) {
    reported.push_back({python.program, python.version.empty() ? kNone : python.version});
    for (const auto& [package, version] : python.packages) {
      reported.push_back({fmt::format("{} of {}", package, python.program), version});
    }
  }
  for (const auto& [name, value] : facts.variables) reported.push_back({"variable " + name, value});
  return reported;
}

std::vector<HostNeeds> NeedsOf(const Plan& plan, std::size_t machines) {
  std::vector<HostNeeds> needs(plan.hosts.size());
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) needs[i].devices = plan.hosts[i].devices;
  for (const Process& process : plan.processes) {
    HostNeeds& host = needs[process.host];
    ++host.processes;
    // What the command names is in the image.
    if (const std::vector<std::string>& runtime = plan.roles[process.role].container.runtime.run; !runtime.empty()) {
      const bool known = std::find(host.programs.begin(), host.programs.end(), runtime.front()) != host.programs.end();
      if (!known && plan.activation.empty()) host.programs.push_back(runtime.front());
      continue;
    }
    const std::vector<Text>& command = EffectiveCommand(plan, process);
    if (plan.roles[process.role].shell || command.empty() || !plan.activation.empty()) continue;
    // A relative path depends on the working folder.
    const std::string& name = command.front().marked;
    const bool relative = name.find('/') != std::string::npos && !name.starts_with('/');
    const bool elsewhere = relative && !EffectiveCwd(plan, process).marked.empty();
    const bool own_path = EffectiveEnv(plan, process).contains("PATH");
    if (elsewhere || own_path || !NeedsNoBinding(command.front())) continue;
    if (std::find(host.programs.begin(), host.programs.end(), name) == host.programs.end()) {
      host.programs.push_back(name);
    }
  }
  if (machines > needs.size()) needs.resize(machines, NeedsOfAny(needs));
  return needs;
}

bool BreaksRun(const HostFault& fault) {
  constexpr std::array<std::string_view, 4> kKinds = {"unreachable", "limit", "program", "devices"};
  return std::find(kKinds.begin(), kKinds.end(), fault.kind) != kKinds.end();
}

HostComparison CompareHosts(std::span<const InspectedHost> hosts, std::span<const HostNeeds> needs,
                            std::string_view muster) {
  Faults faults;
  Faults lacks;
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    const InspectedHost& host = hosts[i];
    if (!host.why.empty()) {
      faults.Add(i, "unreachable", host.why, host.hint);
      continue;
    }
    if (host.clock) JudgeClock(i, *host.clock, faults);
    if (!host.missing.empty())
      faults.Add(i, "unseen", host.missing,
                 "look there by hand: timeout 5 ls the folders of PATH, /tmp and the run directory");
    if (!host.facts.muster.empty() && host.facts.muster != muster) {
      faults.Add(i, "version", fmt::format("its muster-agent is {}, this muster {}", host.facts.muster, muster),
                 "install the same version there, or name another agent: --agent PATH");
    }
    JudgeDisks(i, host.facts, faults);
    for (HostFault& fault : FaultsOfTrials(i, host.facts)) faults.Add(std::move(fault));
    for (HostFault& lack : LacksOfHost(i, host.facts)) lacks.Add(std::move(lack));
    if (!needs.empty()) JudgeNeeds(i, host.facts, needs[i], faults);
  }
  return {faults.Take(), lacks.Take(), Differences(hosts)};
}

std::string HostSetText(std::span<const InspectedHost> hosts, const HostSet& set) {
  std::vector<SiteHost> named;
  for (const std::uint32_t host : set) named.push_back({hosts[host].name, {}, {}});
  return HostListText(named);
}

namespace {

// Up to this number of hosts, every host tests every other one.
constexpr std::uint32_t kFewHosts = 8;

void Add(HostSet& set, std::uint32_t host) {
  const auto at = std::lower_bound(set.begin(), set.end(), host);
  if (at == set.end() || *at != host) set.insert(at, host);
}

}  // namespace

std::vector<ConnectionAttempt> PortsTried(const Plan& plan, std::uint32_t host,
                                          const std::map<std::string, std::uint16_t>& ports) {
  std::vector<ConnectionAttempt> tried;
  for (const auto& [name, port] : plan.ports) {
    const auto number = ports.find(name);
    if (port.host != host || number == ports.end() || tried.size() == kMaxPortsTried) continue;
    tried.push_back({host, name, number->second});
  }
  return tried;
}

std::vector<ConnectionAttempt> TriesOf(const Plan& plan, std::uint32_t from,
                                       const std::map<std::string, std::uint16_t>& ports) {
  const auto hosts = static_cast<std::uint32_t>(plan.hosts.size());
  std::vector<ConnectionAttempt> tries;
  for (std::uint32_t to = 0; to < hosts; ++to) {
    if (to == from) continue;
    std::vector<ConnectionAttempt> tried = PortsTried(plan, to, ports);
    std::move(tried.begin(), tried.end(), std::back_inserter(tries));
  }
  for (std::uint32_t distance = 1; distance < hosts; distance = hosts <= kFewHosts ? distance + 1 : distance * 2) {
    tries.push_back({(from + distance) % hosts, {}, 0});
  }
  return tries;
}

std::vector<PathFailure> FaultsOf(std::span<const std::vector<ConnectionAttempt>> tries,
                                  std::span<const std::vector<std::string>> errors) {
  // First groups hosts that cannot reach one place for the same reason, then places that the same hosts cannot reach.
  using Where = std::tuple<std::string, std::uint16_t, std::uint32_t, std::string>;  // port, number, host, why
  std::map<Where, HostSet> by_place;
  for (std::uint32_t from = 0; from < tries.size(); ++from) {
    for (std::size_t i = 0; i < tries[from].size() && i < errors[from].size(); ++i) {
      const ConnectionAttempt& tried = tries[from][i];
      if (!errors[from][i].empty()) Add(by_place[{tried.port, tried.number, tried.to, errors[from][i]}], from);
    }
  }
  std::vector<PathFailure> faults;
  for (const auto& [place, from] : by_place) {
    const auto& [port, number, to, why] = place;
    const auto alike = std::find_if(
        faults.begin(), faults.end(), [&, &port = port, &why = why, &from = from](const PathFailure& fault) {
          return fault.port == port && port.empty() && fault.why == why && fault.from == from;
        });
    if (alike != faults.end()) {
      Add(alike->to, to);
    } else {
      faults.push_back({from, {to}, port, number, why});
    }
  }
  // Ports of the plan are the most important ones.
  std::stable_partition(faults.begin(), faults.end(), [](const PathFailure& fault) { return !fault.port.empty(); });
  return faults;
}

std::string PathFaultText(const PathFailure& fault, const std::function<std::string(const HostSet&)>& names) {
  const std::string place =
      fault.port.empty() ? std::string() : fmt::format(":{} (port {})", fault.number, Printable(fault.port));
  return fmt::format("{} cannot reach {}{}: {}", names(fault.from), names(fault.to), place, Printable(fault.why));
}

namespace {

// The distribution names of the frameworks in package managers.
const std::vector<std::string> kPackages = {"torch",         "torch-npu",        "mindspore",
                                            "mindspore-gpu", "mindspore-ascend", "numpy"};

bool IsPython(const std::string& program) {
  return std::filesystem::path(program).filename().string().starts_with("python");
}

}  // namespace

std::string ValueOf(const std::vector<std::string>& environment, const std::string& name) {
  const auto found = std::find_if(environment.begin(), environment.end(),
                                  [&](const std::string& entry) { return entry.starts_with(name + '='); });
  return found == environment.end() ? std::string() : found->substr(name.size() + 1);
}

Inspect QuestionFor(const Plan& plan, std::span<const HostNeeds> needs, const HostQuestion& wanted) {
  Inspect question;
  const std::string home = ValueOf(wanted.environment, "MUSTER_HOME");
  const std::string run_dir = wanted.run_dir.empty() ? RunsFolder(wanted.cwd, home) : wanted.run_dir;
  question.places = {{"run directory", run_dir}, {"/tmp", "/tmp"}, {"/dev/shm", "/dev/shm"}};
  if (wanted.trials) {  // doctor: nobody has said yet whether code will be shipped
    const std::string cache = ValueOf(wanted.environment, "XDG_CACHE_HOME");
    const std::string user = ValueOf(wanted.environment, "HOME");
    const std::string folder = cache.starts_with('/')  ? cache
                               : user.starts_with('/') ? user + "/.cache"
                                                       : std::string();
    if (!folder.empty()) question.places.push_back({"folder of shipped code", folder + "/muster/code"});
  }
  question.environment = BeginningEnvironment(plan, InheritedAtSite(plan.site_environment, wanted.environment));
  const std::string search_path = ValueOf(question.environment, "PATH");
  const auto add = [&](const std::string& program) {
    const bool known = std::any_of(question.programs.begin(), question.programs.end(),
                                   [&](const ProgramQuery& sought) { return sought.name == program; });
    if (known) return;
    question.programs.push_back({program, search_path});
    if (IsPython(program)) question.pythons.push_back(program);
  };
  for (const HostNeeds& host : needs) std::for_each(host.programs.begin(), host.programs.end(), add);
  if (question.pythons.empty() && wanted.any_python) add("python3");
  question.packages = kPackages;
  for (const std::string_view pattern : RecordedVariablePatterns()) question.variables.emplace_back(pattern);
  question.search_dirs = wanted.search_dirs;
  question.cwd = wanted.cwd;
  question.trials = wanted.trials;
  question.within_ms = wanted.within_ms;
  return question;
}

}  // namespace muster
