// Derives findings from the probes of a host: faults, missing features, the consequences of each, and how to fix it.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/host_facts.h"
#include "run/journal/host_findings.h"

namespace muster {

// The consequence of a fault of that kind on a host; empty for kinds whose faults state it individually.
std::string BreaksOf(std::string_view kind);
// The same for a folder on a full disk: "run directory", "/tmp", "/dev/shm".
std::string BreaksOfDisk(std::string_view what);

// Kind "node": a device that exists but cannot be opened, or a driver without devices.
std::vector<HostFault> FaultsOfTrials(std::uint32_t host, const HostFacts& facts);
// Kinds "mechanism", "cgroup", "name", "ports", "time", "driver" and "memlock": runs work without these, but with
// restrictions.
std::vector<HostFault> LacksOfHost(std::uint32_t host, const HostFacts& facts);

}  // namespace muster
