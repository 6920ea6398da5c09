// The addresses of this machine by which others may reach it.
#pragma once

#include <string>
#include <vector>

namespace muster {

// IP literals of all interfaces that are up: IPv4, then IPv6 without link-local ones, then the loopback ones; each in
// the order of the interfaces. Empty if they cannot be listed.
std::vector<std::string> OwnAddresses();

}  // namespace muster
