// What was found out about hosts, as values: what is wrong with some of them, in what they differ, and which of them
// cannot reach which. Who finds it out is host_differences.h and path_matrix.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// Hosts by index, ascending.
using HostSet = std::vector<std::uint32_t>;

struct HostFault {
  std::string kind;  // "unreachable", "clock", "disk", … (docs/doctor.md)
  std::string text;  // the same for all of the set
  std::string hint;  // may be empty
  HostSet hosts;
  std::string breaks = {};  // what would go wrong; `hint` is how to mend it

  bool operator==(const HostFault&) const = default;
};

struct HostVariant {
  std::string value;
  HostSet hosts;

  bool operator==(const HostVariant&) const = default;
};

struct HostDifference {
  std::string subject;
  std::vector<HostVariant> variants;  // most hosts first, then as hosts come

  bool operator==(const HostDifference&) const = default;
};

struct HostComparison {
  std::vector<HostFault> faults;
  std::vector<HostFault> lacks = {};        // what runs do without, or may want
  std::vector<HostDifference> differences;  // between those that were reached

  bool operator==(const HostComparison&) const = default;
};

// None of `from` can connect to any of `to`, for the same reason.
struct PathFailure {
  HostSet from;
  HostSet to;
  std::string port;          // its name in the plan; empty: one of the kernel's choice
  std::uint16_t number = 0;  // 0 for those
  std::string why;

  bool operator==(const PathFailure&) const = default;
};

}  // namespace muster
