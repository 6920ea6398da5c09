// muster doctor --write-site: a site file made of what was found, with the rest of its words as comments.
#pragma once

#include <span>
#include <string>

#include "muster/result.h"
#include "run/hosts/inspect_hosts.h"

namespace muster {

// `here`: this machine alone was looked at, so no hosts are named. Hosts that were not reached stand in a comment.
std::string FirstSite(std::span<const InspectedHost> hosts, bool here);

// A new file. Kind "site" if there is one already.
Result<void> WriteNewSite(const std::string& file, const std::string& text);

}  // namespace muster
