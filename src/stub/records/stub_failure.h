// The ways in which a stub that takes time can fail of itself (stub/program/training_stub.h), and the signals that tell
// it to.
#pragma once

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

enum class StubFailure : std::uint8_t {
  kExit,       // it exits with 1
  kException,  // as a Python program whose exception nobody handles
  kMemory,     // … that is out of memory on its device
  kPort,       // … that listens on a port which is taken
  kHang,       // it makes no further step
  kWait        // no failure: it waits for one that does not come, as in a collective
};
inline constexpr std::array<std::string_view, 6> kStubFailureNames = {"exit", "exception", "memory",
                                                                      "port", "hang",      "wait"};

inline std::optional<StubFailure> StubFailureNamed(std::string_view name) {
  const auto found = std::find(kStubFailureNames.begin(), kStubFailureNames.end(), name);
  if (found == kStubFailureNames.end()) return std::nullopt;
  return static_cast<StubFailure>(found - kStubFailureNames.begin());
}

inline int SignalOf(StubFailure failure) { return SIGRTMIN + 1 + static_cast<int>(failure); }

}  // namespace muster
