// The address of a run's control socket. The path of a socket is limited to 107 bytes, and that of a run directory may
// be longer: the address uses the descriptor of the folder instead.
#pragma once

#include <cstddef>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace muster {

// `folder` is a descriptor of the run directory; the address is valid while it is open.
inline sockaddr_un ControlAddress(int folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/control", folder);
  return address;
}

}  // namespace muster
