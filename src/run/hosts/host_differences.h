// What is wrong with hosts, each on its own, and in what they differ: sets of hosts with what is true of all of a set.
//
// Pure: facts and needs in, findings out. Knows no transport and prints nothing.
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

// One line of what is known of a host.
struct FactLine {
  std::string subject;  // "kernel", "limit nofile", "variable PATH"
  std::string value;

  bool operator==(const FactLine&) const = default;
};

// What is expected to be the same on all hosts, subjects once each. Sizes have two digits: machines of one kind differ
// by less. What hosts cannot have in common (addresses, free space) is not among them.
std::vector<FactLine> FactLines(const HostFacts& facts);

// What a plan wants of one host.
struct HostNeeds {
  std::vector<std::string> programs;  // names as they were asked for
  std::uint32_t processes = 0;
  std::uint32_t devices = 0;
};

// By index of the plan's hosts, and then of spares until there are `machines`: a spare has to be fit for any of them,
// but for its devices, whose number is judged when it is named. Programs are those that need no binding to be known;
// none where an activation comes first, which may be what brings them.
std::vector<HostNeeds> NeedsOf(const Plan& plan, std::size_t machines);

// Whether a run on hosts with this fault would not come to work: what needs no second thought. The others may do no
// harm.
bool BreaksRun(const HostFault& fault);

// Less free than this is as good as full: a run's logs, a compiler's temporary files, a loader's shared memory.
inline constexpr std::uint64_t kLeastFreeBytes = std::uint64_t{100} << 20;
inline constexpr std::uint64_t kLeastFreeInodes = 1'000;
// What clocks may differ by before messages of hosts are hard to put in order, on top of what is not known.
inline constexpr std::uint64_t kMostClockNs = 1'000'000'000;

// `needs` is empty, or has one entry for each host. `muster`: the version of this program.
HostComparison CompareHosts(std::span<const InspectedHost> hosts, std::span<const HostNeeds> needs,
                            std::string_view muster);

// "n[01-03],n7"
std::string HostSetText(std::span<const InspectedHost> hosts, const HostSet& set);

// "12 GiB": two digits of what there is.
std::string RoughBytes(std::uint64_t bytes);

}  // namespace muster
