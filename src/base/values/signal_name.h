// Signals by name and number, as the C library of this machine has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// "SIGKILL"; "SIGRTMIN+3" for the real-time ones; "signal 77" for what is none.
std::string SignalName(std::int32_t signal);

// "TERM" or "SIGTERM" -> 15.
std::optional<std::int32_t> SignalNumber(std::string_view name);

}  // namespace muster
