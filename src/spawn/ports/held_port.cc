#include "spawn/ports/held_port.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "spawn/ports/port_holder.h"

namespace muster {
namespace {

constexpr std::uint32_t kFirstUnprivileged = 1024;

void SetOption(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

int BindAny(int socket, int family, std::uint16_t number) {
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(number);
  six.sin6_addr = in6addr_any;
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = htons(number);
  four.sin_addr.s_addr = htonl(INADDR_ANY);
  const bool is_six = family == AF_INET6;
  const auto* address = is_six ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
  return ::bind(socket, address, is_six ? sizeof six : sizeof four) == 0 ? 0 : errno;
}

// Both families with one socket if there is IPv6, so that the port is free on ::1 as well.
int Bind(std::uint16_t number, bool reuse, UniqueFd& held) {
  for (const int family : {AF_INET6, AF_INET}) {
    UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) {
      if (errno == EAFNOSUPPORT && family == AF_INET6) continue;
      return errno;
    }
    if (family == AF_INET6) SetOption(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (reuse) SetOption(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    const int error = BindAny(socket.get(), family, number);
    if (error == EADDRNOTAVAIL && family == AF_INET6) continue;
    if (error != 0) return error;
    // Set only after this bind: without the options it fails if any process has the port, also one of another muster.
    SetOption(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    SetOption(socket.get(), SOL_SOCKET, SO_REUSEPORT, 1);
    held = std::move(socket);
    return 0;
  }
  return EAFNOSUPPORT;
}

// Whether /proc shows only closed connections (TIME_WAIT) for the port: they do not prevent a server that sets
// SO_REUSEADDR from binding it.
bool OnlyPastConnections(std::uint16_t number) {
  bool past = false;
  for (const TcpSocket& socket : TcpSockets()) {
    if (socket.port != number) continue;
    if (socket.state != TcpSocket::State::kPast) return false;
    past = true;
  }
  return past;
}

int BindAfterOthers(std::uint16_t number, UniqueFd& held) {
  const int error = Bind(number, false, held);
  return error == EADDRINUSE && OnlyPastConnections(number) ? Bind(number, true, held) : error;
}

}  // namespace

std::uint16_t FirstEphemeralPort() {
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  std::uint32_t first = 0;
  if (!(range >> first) || first > 65535) return 32768;
  return static_cast<std::uint16_t>(first);
}

std::optional<HeldPort> TryHoldPort(std::uint16_t number) {
  HeldPort held{UniqueFd(), number};
  const int error = BindAfterOthers(number, held.socket);
  return error == 0 ? std::optional(std::move(held)) : std::nullopt;
}

tl::expected<HeldPort, std::string> HoldPort(std::uint16_t number) {
  HeldPort held{UniqueFd(), number};
  const int error = BindAfterOthers(number, held.socket);
  if (error == 0) return held;
  if (error == EADDRINUSE) {
    const std::string holder = PortHolderText(FindPortHolders({number}, 0)[number]);
    return tl::unexpected<std::string>(
        fmt::format("port {} is in use{}", number, holder.empty() ? "" : fmt::format(" by {}", holder)));
  }
  return tl::unexpected<std::string>(fmt::format("port {} cannot be bound: {}", number, std::strerror(error)));
}

tl::expected<HeldPort, std::string> HoldAnyPort(const std::set<std::uint16_t>& taken) {
  std::vector<std::uint16_t> candidates;
  // If nearly all ports have been declared ephemeral, use that range.
  const std::uint32_t ephemeral = FirstEphemeralPort();
  const std::uint32_t end = ephemeral < 2 * kFirstUnprivileged ? 65536 : ephemeral;
  for (std::uint32_t number = kFirstUnprivileged; number < end; ++number) {
    const auto port = static_cast<std::uint16_t>(number);
    if ((port < kAvoidedFirst || port > kAvoidedLast) && !taken.contains(port)) candidates.push_back(port);
  }
  std::random_device random;
  std::shuffle(candidates.begin(), candidates.end(), std::mt19937(random()));
  int error = EADDRINUSE;
  for (const std::uint16_t number : candidates) {
    HeldPort held{UniqueFd(), number};
    error = Bind(number, false, held.socket);
    if (error == 0) return held;
    if (error != EADDRINUSE && error != EACCES) break;
  }
  return tl::unexpected<std::string>(fmt::format("no free port from {} to {} outside {} to {}: {}", kFirstUnprivileged,
                                                 end - 1, kAvoidedFirst, kAvoidedLast, std::strerror(error)));
}

}  // namespace muster
