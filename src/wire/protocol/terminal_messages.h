// Messages of the agent protocol: what goes through a pseudo-terminal, both ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "muster/event.h"

namespace muster {

// The window of a terminal; 0 and 0 where that is not known.
struct PtySize {
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};

// Each side may have sent so many bytes that the other has not told to be taken. When its process has ended the agent
// sends what is left, whatever is granted: at most kMaxPtyRest.
inline constexpr std::size_t kPtyWindow = 64U << 10;
inline constexpr std::size_t kMaxPtyRest = 256U << 10;

// From the head: typed. From the agent: written.
struct PtyBytes {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string bytes;
};

// So many of these went on, to the process or to the user, and as many more may be sent.
struct PtyTaken {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint32_t count = 0;
};

// From the head: the user's window has another size. What is said of a pseudo-terminal that is closed has no effect.
struct PtyResized {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  PtySize size;
};

}  // namespace muster
