// Finds the ranks that frameworks assign themselves in the logs of their processes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

// How much of the beginning of a log to read: processes register first of all.
inline constexpr std::size_t kRegistrationBytes = std::size_t{64} << 10;

// The rank of a process that has the framework's role `plays` ("worker", "server"), from the beginning of its log;
// empty if the log does not contain it. ps-lite and BytePS log "W[9] is connected to others" with PS_VERBOSE=1 or more
// (van.cc, Van::ProcessAddNodeCommand); the id is 8 + 2 r for server r and 9 + 2 r for worker r (postoffice.h).
std::optional<std::uint32_t> AssignedRank(std::string_view framework, std::string_view plays, std::string_view log);

}  // namespace muster
