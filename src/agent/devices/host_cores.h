// The processor cores that muster may use on this host according to the kernel: their NUMA nodes, which of them are
// threads of one physical core, and the processor time that a cgroup allows.
//
// Reads /sys and /proc; core_shares.h assigns the cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/devices/core_shares.h"

namespace muster {

// The caller's affinity, which the kernel keeps within its cpuset, of cgroup version 1 or 2 (cpuset(7)).
std::vector<std::uint32_t> OwnCores();

// Arranges `usable` by the topology below `root`/sys and `root`/proc; `root` ends with a slash. Cores without a known
// node are on node 0. The quota is the smallest one of the own cgroup and those above it: cpu.max, or for version 1
// cpu.cfs_quota_us over cpu.cfs_period_us.
HostCores ReadHostCores(const std::vector<std::uint32_t>& usable, const std::string& root = "/");

}  // namespace muster
