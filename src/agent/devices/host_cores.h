// The processor cores that muster may use on this host, as the kernel tells: which, on which node of memory, which of
// them are threads of one physical core, and how much of their time a cgroup allows.
//
// Knows /sys and /proc; shares nothing out (core_shares.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/devices/core_shares.h"

namespace muster {

// The affinity of the caller, which the kernel keeps within its cpuset, of cgroup version 1 or 2 (cpuset(7)).
std::vector<std::uint32_t> OwnCores();

// `usable` arranged by what stands below `root`/sys and `root`/proc; `root` ends with a slash. Cores of which no node
// is told are on node 0. The quota is the smallest of the own cgroup and those above it: cpu.max, or for version 1
// cpu.cfs_quota_us over cpu.cfs_period_us.
HostCores ReadHostCores(const std::vector<std::uint32_t>& usable, const std::string& root = "/");

}  // namespace muster
