// The ranks that frameworks assign themselves, as far as the logs of their processes name them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

// How much of the beginning of a log is worth reading: processes register before they do anything else.
inline constexpr std::size_t kRegistrationBytes = std::size_t{64} << 10;

// The rank of a process that plays `plays` ("worker", "server") under the framework, by the beginning of its log;
// nothing if that does not name it. ps-lite and BytePS log "W[9] is connected to others" with PS_VERBOSE=1 or more
// (van.cc, Van::ProcessAddNodeCommand); the id is 8 + 2 r for server r and 9 + 2 r for worker r (postoffice.h).
std::optional<std::uint32_t> AssignedRank(std::string_view framework, std::string_view plays, std::string_view log);

}  // namespace muster
