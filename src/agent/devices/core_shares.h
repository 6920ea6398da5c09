// Computes which processor cores each process of a host gets, from the host's cores and the requests.
//
// Pure: integers and text only. A core is a logical CPU as numbered by the kernel and used by sched_setaffinity(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "wire/protocol/device_messages.h"

namespace muster {

// The cores that muster itself may use.
struct HostCores {
  struct Node {
    std::uint32_t id = 0;
    // Hardware threads of one physical core form a group; ascending, groups sorted by their first core.
    std::vector<std::vector<std::uint32_t>> groups;

    bool operator==(const Node&) const = default;
  };
  std::vector<Node> nodes;      // NUMA nodes, ascending; none is empty
  std::optional<double> quota;  // processor time in cores, if a cgroup limits it

  bool operator==(const HostCores&) const = default;
};

struct CoreShares {
  std::vector<std::vector<std::uint32_t>> of;  // by wish; ascending, never empty
  std::vector<std::string> notes;              // warnings, as sentences
};

// Lists are granted as they are, and their cores go to no process that does not list them; then counts are granted,
// then equal shares. A process stays within one node if possible, preferably that of its device, and processes share a
// physical core only if there are fewer physical cores than processes. A quota limits the equal shares, so that no
// process starts more threads than it has processor time for; with fewer cores than processes, cores are used by
// several. Fails, with one sentence, for a core that muster may not use and for counts that exceed the available cores.
// `nodes`, if not empty, has for each wish the node near the process's devices, if known.
tl::expected<CoreShares, std::string> ShareCores(const HostCores& host, const std::vector<CoreRequest>& wishes,
                                                 const std::vector<std::optional<std::uint32_t>>& nodes = {});

}  // namespace muster
