#include "run/hosts/host_differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/values/units.h"
#include "muster/plan.h"
#include "plan/hosts/host_list.h"
#include "run/hosts/host_probe_findings.h"

namespace muster {
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
  void Add(std::uint32_t host, std::string kind, std::string text, std::string hint = {}, std::string breaks = {}) {
    if (breaks.empty()) breaks = BreaksOf(kind);
    Add(HostFault{std::move(kind), std::move(text), std::move(hint), {host}, std::move(breaks)});
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
  if (off <= clock.error_ns + kMostClockNs) return;
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
                 BreaksOfDisk(disk.what));
    } else if (!disk.error.empty()) {
      faults.Add(host, "disk", fmt::format("{} cannot be used: {}", place, disk.error),
                 "let this user write there: ls -ld " + disk.path, BreaksOfDisk(disk.what));
    } else if (disk.bytes > 0 && disk.free_bytes < kLeastFreeBytes) {
      faults.Add(host, "disk", fmt::format("{} is full: less than {} are free", place, RoughBytes(kLeastFreeBytes)),
                 room, BreaksOfDisk(disk.what));
    } else if (disk.inodes > 0 && disk.free_inodes < kLeastFreeInodes) {
      faults.Add(host, "disk", fmt::format("{} is full: less than {} inodes are free", place, kLeastFreeInodes),
                 "df -i " + disk.path + "; remove small files", BreaksOfDisk(disk.what));
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

}  // namespace muster
