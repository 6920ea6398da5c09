// Messages of the agent protocol: input and output of a pseudo-terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "muster/event.h"

namespace muster {

// Window size of a terminal; 0 and 0 if unknown.
struct PtySize {
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};

// Flow control: each side may have sent this many bytes that the other has not confirmed with PtyTaken. After the
// process has exited the agent sends the remaining output regardless of the window: at most kMaxPtyRest.
inline constexpr std::size_t kPtyWindow = 64U << 10;
inline constexpr std::size_t kMaxPtyRest = 256U << 10;

// From the head: input. From the agent: output.
struct PtyBytes {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string bytes;
};

// Confirms that `count` bytes were passed on to the process or to the user; as many more may be sent.
struct PtyTaken {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint32_t count = 0;
};

// From the head: the user's window was resized. Messages about a closed pseudo-terminal have no effect.
struct PtyResized {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  PtySize size;
};

}  // namespace muster
