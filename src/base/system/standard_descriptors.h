// Ensures that descriptors 0, 1 and 2 are open from the start of a program: otherwise a file opened later would get one
// of these numbers and be used as the terminal. A separate header so that examples, which link nothing of muster, can
// use it too.
#pragma once

#include <fcntl.h>

namespace muster {

// Opens /dev/null for each of the descriptors 0 to 2 that is closed (`muster run … <&- >&- 2>&-`). Must be called first
// in main(). False, with errno, if /dev/null cannot be opened.
inline bool FillStandardDescriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // open(2) returns the lowest free number, which is this one.
    if (::open("/dev/null", O_RDWR) != fd) return false;
  }
  return true;
}

}  // namespace muster
