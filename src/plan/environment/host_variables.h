// Which variables describe a host: processes on another host than that of `muster run` inherit them from their own
// host, because the caller's values are true only where muster was called. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/site.h"

namespace muster {

// Devices and cores that a scheduler granted on one host, its addresses, and paths that exist only there. docs/hosts.md
// lists them. Sorted.
std::span<const std::string_view> HostVariableNames();

// `caller` ("NAME=value") without them: what the caller's environment says to processes of other hosts.
std::vector<std::string> WithoutHostVariables(std::vector<std::string> caller);

// Those that the site lets processes inherit, and does not set itself.
std::vector<std::string> HostVariablesAtSite(const SiteEnvironment& site);

}  // namespace muster
