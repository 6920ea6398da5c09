// Which variables describe a host: processes on another host than that of `muster run` inherit them from their own
// host, because the caller's values are true only where muster was called. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/site.h"

namespace muster {

// Devices and cores that a scheduler granted on one host, its addresses, its user, and paths that exist only there.
// docs/environment.md lists them. Sorted.
std::span<const std::string_view> HostVariableNames();

// `caller` ("NAME=value") without them, and without settings that name cores or devices by their numbers, such as
// OMP_PLACES={0,1}: what processes of other hosts inherit of the caller's environment.
std::vector<std::string> WithoutHostVariables(std::vector<std::string> caller);

// The names of those of the caller ("NAME=value") that a command which starts agents on other hosts does not get: srun
// and others pass their environment on, and the caller's devices would become those of each host.
std::vector<std::string> HostVariablesOfCaller(const std::vector<std::string>& caller);

// Those that the site lets processes inherit from their host, and does not set itself.
std::vector<std::string> HostVariablesAtSite(const SiteEnvironment& site);

}  // namespace muster
