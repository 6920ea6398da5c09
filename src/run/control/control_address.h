// The address of a run's control socket. A socket's path has room for 107 bytes, a run directory's may be longer:
// it is named through the descriptor of its folder.
#pragma once

#include <cstddef>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace muster {

// `folder` is a descriptor of the run directory; the address holds as long as it is open.
inline sockaddr_un ControlAddress(int folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/control", folder);
  return address;
}

}  // namespace muster
