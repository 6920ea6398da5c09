// Non-blocking TCP sockets: one that listens on all addresses of this host, and one that connects.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"

namespace muster {

// Whether others may bind the port at the same time (SO_REUSEPORT), if they set the option too.
enum class PortUse : std::uint8_t { kAlone, kShared };

// A socket that listens on every IPv4 and IPv6 address, or errno. `port` 0 is set to one of the kernel's choice.
tl::expected<UniqueFd, int> ListenAt(std::uint16_t& port, PortUse use);

// A socket whose connection is in progress, or errno; EINVAL if the address is no IP literal. Closing it leaves no
// TIME_WAIT on either side.
tl::expected<UniqueFd, int> ConnectTo(const std::string& address, std::uint16_t port);

inline constexpr const char* kNoAnswer = "no answer";

// Why a connection failed, in the same words as for ssh where the reason is the same; empty for 0.
std::string ConnectErrorText(int error);

}  // namespace muster
