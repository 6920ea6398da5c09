// Findings about hosts, as values: faults of hosts, differences between them, and hosts that cannot reach others.
// host_differences.h and path_matrix.h determine them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// Hosts by index, ascending.
using HostSet = std::vector<std::uint32_t>;

struct HostFault {
  std::string kind;  // "unreachable", "clock", "disk", … (docs/doctor.md)
  std::string text;  // the same for all hosts of the set
  std::string hint;  // may be empty
  HostSet hosts;
  std::string breaks = {};  // the consequence of the fault; `hint` says how to fix it

  bool operator==(const HostFault&) const = default;
};

struct HostVariant {
  std::string value;
  HostSet hosts;

  bool operator==(const HostVariant&) const = default;
};

struct HostDifference {
  std::string subject;
  std::vector<HostVariant> variants;  // the one with most hosts first, then in the order of hosts

  bool operator==(const HostDifference&) const = default;
};

struct HostComparison {
  std::vector<HostFault> faults;
  std::vector<HostFault> lacks = {};        // missing features that runs can do without
  std::vector<HostDifference> differences;  // between the hosts that were reached

  bool operator==(const HostComparison&) const = default;
};

// No host of `from` can connect to any of `to`, for the same reason.
struct PathFailure {
  HostSet from;
  HostSet to;
  std::string port;          // its name in the plan; empty: a port chosen by the kernel
  std::uint16_t number = 0;  // 0 for a port chosen by the kernel
  std::string why;

  bool operator==(const PathFailure&) const = default;
};

}  // namespace muster
