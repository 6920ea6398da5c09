// What follows from what a host was tried for: what is wrong, what runs do without, what each of it breaks and how it
// is mended. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/host_facts.h"
#include "run/journal/host_findings.h"

namespace muster {

// What goes wrong on a host with a fault of that kind; empty for kinds that tell it with each fault.
std::string BreaksOf(std::string_view kind);
// The same of a folder without room: "run directory", "/tmp", "/dev/shm".
std::string BreaksOfDisk(std::string_view what);

// Kind "node": a device that is there and cannot be opened, a driver without devices.
std::vector<HostFault> FaultsOfTrials(std::uint32_t host, const HostFacts& facts);
// Kinds "mechanism", "cgroup", "name", "ports", "time", "driver" and "memlock": runs work without, but not as well.
std::vector<HostFault> LacksOfHost(std::uint32_t host, const HostFacts& facts);

}  // namespace muster
