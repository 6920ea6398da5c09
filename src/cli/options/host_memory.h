// Hosts that failed lately, as the commands speak of them (run/hosts/bad_hosts.h): with the user's file and the clock.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace muster {

// A line for each of the hosts that there is something to say of.
std::vector<std::string> RememberedHosts(const std::vector<std::string>& hosts,
                                         const std::vector<std::string>& environment);

// Host and why. If none of the run's hosts (so many) did better, nothing is held against them: it will be something
// else.
void RememberHosts(const std::vector<std::pair<std::string, std::string>>& bad, std::size_t hosts,
                   const std::vector<std::string>& environment);

}  // namespace muster
