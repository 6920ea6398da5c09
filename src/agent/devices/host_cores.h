// Processor cores: those that muster may use on this host according to the kernel, with their NUMA nodes, threads of
// one physical core, and the processor time that a cgroup allows; and, pure, which of them each process gets. A core
// is a logical CPU as numbered by the kernel and used by sched_setaffinity(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "wire/protocol/protocol.h"

namespace muster {

// Computes which processor cores each process of a host gets, from the host's cores and the requests.
//
// Pure: integers and text only. A core is a logical CPU as numbered by the kernel and used by sched_setaffinity(2).

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
  std::vector<std::vector<std::uint32_t>> of;  // by request; ascending, never empty
  std::vector<std::string> notes;              // warnings, as sentences
};

// Lists are granted as they are, and their cores go to no process that does not list them; then counts are granted,
// then equal shares. A process stays within one node if possible, preferably that of its device, and processes share a
// physical core only if there are fewer physical cores than processes. A quota limits the equal shares, so that no
// process starts more threads than it has processor time for; with fewer cores than processes, cores are used by
// several. Fails, with one sentence, for a core that muster may not use and for counts that exceed the available cores.
// `nodes`, if not empty, has for each request the node near the process's devices, if known.
tl::expected<CoreShares, std::string> ShareCores(const HostCores& host, const std::vector<CoreRequest>& requests,
                                                 const std::vector<std::optional<std::uint32_t>>& nodes = {});

// The processor cores that muster may use on this host according to the kernel: their NUMA nodes, which of them are
// threads of one physical core, and the processor time that a cgroup allows.
//
// Reads /sys and /proc; the shares below assign the cores.

// The caller's affinity, which the kernel keeps within its cpuset, of cgroup version 1 or 2 (cpuset(7)).
std::vector<std::uint32_t> OwnCores();

// Arranges `usable` by the topology below `root`/sys and `root`/proc; `root` ends with a slash. Cores without a known
// node are on node 0. The quota is the smallest one of the own cgroup and those above it: cpu.max, or for version 1
// cpu.cfs_quota_us over cpu.cfs_period_us.
HostCores ReadHostCores(const std::vector<std::uint32_t>& usable, const std::string& root = "/");

}  // namespace muster
