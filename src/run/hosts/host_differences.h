// Compares hosts: faults of single hosts, and differences between hosts, grouped into sets of hosts with the same
// values.
//
// Pure: computes findings from facts and needs. Uses no transport and prints nothing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/hosts/inspect_hosts.h"
#include "run/journal/host_findings.h"

namespace muster {

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
inline constexpr std::uint64_t kLeastFreeBytes = std::uint64_t{100} << 20;
inline constexpr std::uint64_t kLeastFreeInodes = 1'000;
// Largest difference between clocks, on top of the uncertainty, at which messages of hosts can still be ordered easily.
inline constexpr std::uint64_t kMostClockNs = 1'000'000'000;

// `needs` is empty, or has one entry for each host. `muster`: the version of this program.
HostComparison CompareHosts(std::span<const InspectedHost> hosts, std::span<const HostNeeds> needs,
                            std::string_view muster);

// "n[01-03],n7"
std::string HostSetText(std::span<const InspectedHost> hosts, const HostSet& set);

// "12 GiB": rounded down to two digits.
std::string RoughBytes(std::uint64_t bytes);

}  // namespace muster
