// muster doctor --write-site: generates a site file from the facts found, with the other fields as comments.
#pragma once

#include <span>
#include <string>

#include "muster/result.h"
#include "run/hosts/inspect_hosts.h"

namespace muster {

// `here`: only this machine was inspected, so no hosts are named. Unreachable hosts are listed in a comment.
std::string FirstSite(std::span<const InspectedHost> hosts, bool here);

// Writes a new file. Kind "site" if it exists already.
Result<void> WriteNewSite(const std::string& file, const std::string& text);

}  // namespace muster
