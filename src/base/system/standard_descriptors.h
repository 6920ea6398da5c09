// Descriptors 0, 1 and 2, which every program of ours has from its first line on: what it opened later would else be
// given these numbers, and be read or written as the terminal is. In a header of its own, so that examples, which link
// nothing of muster, have it too.
#pragma once

#include <fcntl.h>

namespace muster {

// Opens /dev/null in the place of each of descriptors 0 to 2 that is closed (`muster run … <&- >&- 2>&-`). To be called
// first thing in main(). False, with errno, if /dev/null cannot be opened.
inline bool FillStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest number that is free (open(2)), which is this one.
    if (::open("/dev/null", O_RDWR) != fd) return false;
  }
  return true;
}

}  // namespace muster
