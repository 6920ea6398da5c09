// Reserves TCP ports for processes that start later. Handles sockets and the machine's port ranges; does not know the
// processes.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"

namespace muster {

// Ports that are never chosen, because MindSpore's defaults are in this range (8118 the scheduler, up to 16309 the
// servers).
inline constexpr std::uint16_t kAvoidedFirst = 8118;
inline constexpr std::uint16_t kAvoidedLast = 16309;

// The first port that the kernel uses for outgoing connections (ip_local_port_range(7)). No port from there on is
// chosen, since any connection could take it before its process listens (unless hardly any others would be left). 32768
// if it cannot be read.
std::uint16_t FirstEphemeralPort();

// A socket bound to the port on every IPv4 and IPv6 address, not listening. No other process can bind the port in the
// meantime unless it sets SO_REUSEADDR or SO_REUSEPORT, as this socket does.
struct HeldPort {
  UniqueFd socket;  // closing it releases the port
  std::uint16_t number = 0;
};

// Holds the given port, unless it is in use.
std::optional<HeldPort> TryHoldPort(std::uint16_t number);

// The same. The error is a phrase that names the port and, as far as it can be determined, its user: "port 6667 is in
// use by process 4711 (nc -l 6667)".
tl::expected<HeldPort, std::string> HoldPort(std::uint16_t number);

// Holds a free port of 1024 and up, chosen at random, that is not in `taken`.
tl::expected<HeldPort, std::string> HoldAnyPort(const std::set<std::uint16_t>& taken);

}  // namespace muster
