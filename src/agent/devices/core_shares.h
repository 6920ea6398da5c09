// Which processor cores each process of a host gets, computed from what the host has and what was asked for.
//
// Pure: integers and text only. A core here is what the kernel numbers, and what sched_setaffinity(2) takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "wire/protocol/device_messages.h"

namespace muster {

// What muster itself may use.
struct HostCores {
  struct Node {
    std::uint32_t id = 0;
    // Those that are hardware threads of one physical core together; ascending, and so are the groups by their first.
    std::vector<std::vector<std::uint32_t>> groups;

    bool operator==(const Node&) const = default;
  };
  std::vector<Node> nodes;      // of memory, ascending; none is empty
  std::optional<double> quota;  // of processor time, in cores, if a cgroup limits it

  bool operator==(const HostCores&) const = default;
};

struct CoreShares {
  std::vector<std::vector<std::uint32_t>> of;  // by wish; ascending, never empty
  std::vector<std::string> notes;              // sentences about what could not be as it should
};

// Lists are given as they are, and to no one else who does not list them; then counts, then equal shares. A process
// stays within one node if that can be, that of its device first, and a physical core is split between processes only
// if there are fewer than processes. A quota limits what is shared, so that no process starts threads that it has no
// time for; where there are fewer cores than processes they take turns. Fails, with one sentence, for a core that
// muster may not use and for counts that are more than there is.
// `nodes`, if not empty, has for each wish the node that the process's devices are near to, if that is known.
tl::expected<CoreShares, std::string> ShareCores(const HostCores& host, const std::vector<CoreRequest>& wishes,
                                                 const std::vector<std::optional<std::uint32_t>>& nodes = {});

}  // namespace muster
