// Plain TCP sockets that never block: one that listens on all addresses of this host, one that is being connected.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"

namespace muster {

// Whether others may have the port bound at the same time (SO_REUSEPORT), if they have said so, too.
enum class PortUse : std::uint8_t { kAlone, kShared };

// A socket that listens on every address of IPv4 and IPv6, or errno. 0: a port of the kernel's choice, which is told.
tl::expected<UniqueFd, int> ListenAt(std::uint16_t& port, PortUse use);

// A connection that is being made, or errno; EINVAL if the address is no IP literal. It ends without leaving a trace
// (TIME_WAIT) on either side.
tl::expected<UniqueFd, int> ConnectTo(const std::string& address, std::uint16_t port);

inline constexpr const char* kNoAnswer = "no answer";

// Why a connection did not come about, in the words that are told of ssh where it is the same; empty for 0.
std::string ConnectErrorText(int error);

}  // namespace muster
