// Findings about hosts: faults of single hosts, from facts and probes, differences between hosts, and failures of the
// network paths between them, grouped into sets of hosts; with the inspection request and the paths to test that they
// need. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/host_facts.h"
#include "muster/plan.h"
#include "run/hosts/inspect_hosts.h"
#include "run/journal/head_facts.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Derives findings from the probes of a host: faults, missing features, the consequences of each, and how to fix it.
// Pure.

// The consequence of a fault of that kind on a host; empty for kinds whose faults state it individually.
std::string EffectOf(std::string_view kind);
// The same for a folder on a full disk: "run directory", "/tmp", "/dev/shm".
std::string EffectOfDisk(std::string_view what);

// Kind "node": a device that exists but cannot be opened, or a driver without devices.
std::vector<HostFault> FaultsOfTrials(std::uint32_t host, const HostFacts& facts);
// Kinds "mechanism", "cgroup", "name", "ports", "time", "driver" and "memlock": runs work without these, but with
// restrictions.
std::vector<HostFault> LacksOfHost(std::uint32_t host, const HostFacts& facts);

// Compares hosts: faults of single hosts, and differences between hosts, grouped into sets of hosts with the same
// values.
//
// Pure: computes findings from facts and needs. Uses no transport and prints nothing.

struct Plan;

// One known fact about a host.
struct FactLine {
  std::string subject;  // "kernel", "limit nofile", "variable PATH"
  std::string value;

  bool operator==(const FactLine&) const = default;
};

// Facts that should be the same on all hosts, each subject once. Sizes have two digits, since machines of the same kind
// differ by less. Facts that always differ (addresses, free space) are not included.
std::vector<FactLine> FactLines(const HostFacts& facts);

// What a plan needs on one host.
struct HostNeeds {
  std::vector<std::string> programs;  // names as given in commands
  std::uint32_t processes = 0;
  std::uint32_t devices = 0;
};

// By index of the plan's hosts, then of spares, up to `machines` entries. A spare must be suitable for any host, except
// for its devices, whose number is checked when the spare is named. Lists only programs whose names need no binding,
// and none if there is an activation, which may provide them.
std::vector<HostNeeds> NeedsOf(const Plan& plan, std::size_t machines);

// Whether a run would certainly fail on hosts with this fault. Other faults may be
// harmless.
bool BreaksRun(const HostFault& fault);

// With less free space than this, a file system counts as full: logs, temporary files of compilers and shared memory of
// data loaders need it.
inline constexpr std::uint64_t kMinFreeBytes = std::uint64_t{100} << 20;
inline constexpr std::uint64_t kMinFreeInodes = 1'000;
// Largest difference between clocks, on top of the uncertainty, at which messages of hosts can still be ordered easily.
inline constexpr std::uint64_t kMaxClockNs = 1'000'000'000;

// `needs` is empty, or has one entry for each host. `muster`: the version of this program.
HostComparison CompareHosts(std::span<const InspectedHost> hosts, std::span<const HostNeeds> needs,
                            std::string_view muster);

// "n[01-03],n7"
std::string HostSetText(std::span<const InspectedHost> hosts, const HostSet& set);

// "12 GiB": rounded down to two digits.
std::string RoughBytes(std::uint64_t bytes);

// Selects the connections between hosts that are tested before a run, and groups failures by sets of hosts. Pure.

// One connection that a host tries.
struct ConnectionAttempt {
  std::uint32_t to = 0;      // host
  std::string port;          // name in the plan; empty: the port that the agent there opened for the test
  std::uint16_t number = 0;  // number of a port of the plan

  bool operator==(const ConnectionAttempt&) const = default;
};

// Most ports of the plan that a host tests on each other host: many ports of a host behave alike.
inline constexpr std::size_t kMaxPortsTried = 4;

// The ports of the plan on the host that other hosts test, by name, at most kMaxPortsTried.
std::vector<ConnectionAttempt> PortsTried(const Plan& plan, std::uint32_t host,
                                          const std::map<std::string, std::uint16_t>& ports);

// The connections that host `from` tests: the plan's ports on every other host, and the agents of hosts at distances 1,
// 2, 4, … from it in a ring of all hosts; with up to 8 hosts, the agents of all others. So n hosts make at most n·log₂
// n connections besides those to the plan's ports, and several hosts notice one that is disconnected.
std::vector<ConnectionAttempt> TriesOf(const Plan& plan, std::uint32_t from,
                                       const std::map<std::string, std::uint16_t>& ports);

// `errors` of each host are those of its connections, in order; an empty text means success.
std::vector<PathFailure> FaultsOf(std::span<const std::vector<ConnectionAttempt>> tries,
                                  std::span<const std::vector<std::string>> errors);

// "n[3-4] cannot reach n1:29500 (port MASTER): no answer"
std::string PathFaultText(const PathFailure& fault, const std::function<std::string(const HostSet&)>& names);

// Builds the inspection request that hosts get before a run, and from doctor. Pure.

struct HostQuestion {
  std::vector<std::string> environment;  // the user's, "NAME=value"
  std::string cwd;                       // absolute
  std::vector<std::string> search_dirs;  // folders of the library search path, as for a run
  std::string run_dir = {};              // path of the run directory to be created; empty: the default
  bool any_python = false;               // list packages of python3 if the plan uses no Python
  bool trials = false;                   // also run probes of what an agent is permitted to do; takes a moment
  std::uint32_t within_ms = 5'000;
};

// `needs` are those of the plan (host_differences.h), or empty.
Inspect QuestionFor(const Plan& plan, std::span<const HostNeeds> needs, const HostQuestion& wanted);

// The value of a variable; empty if it is not set.
std::string ValueOf(const std::vector<std::string>& environment, const std::string& name);

}  // namespace muster
