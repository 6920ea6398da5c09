// The size of a terminal.
#pragma once

#include <cstdint>

#include <sys/ioctl.h>

namespace muster {

struct TerminalSize {
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};

// Zeros if there is no terminal behind the descriptor, or one that does not know its size.
inline TerminalSize SizeOfTerminal(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
}

}  // namespace muster
