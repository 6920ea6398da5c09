// The record of hosts that failed recently (run/hosts/bad_hosts.h), with the user's file and the clock.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace muster {

// A line for each host with recent failures.
std::vector<std::string> RememberedHosts(const std::vector<std::string>& hosts,
                                         const std::vector<std::string>& environment);

// Pairs of host and reason. If no host of the run (of so many) did better, nothing is recorded: the cause is probably
// something else.
void RememberHosts(const std::vector<std::pair<std::string, std::string>>& bad, std::size_t hosts,
                   const std::vector<std::string>& environment);

}  // namespace muster
