// Signal names and numbers of this machine's C library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// "SIGKILL"; "SIGRTMIN+3" for the real-time signals; "signal 77" for an invalid number.
std::string SignalName(std::int32_t signal);

// "TERM" or "SIGTERM" -> 15.
std::optional<std::int32_t> SignalNumber(std::string_view name);

}  // namespace muster
