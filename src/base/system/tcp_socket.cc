#include "base/system/tcp_socket.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace muster {

std::string ConnectErrorText(int error) {
  switch (error) {
    case 0:
      return {};
    case ECONNREFUSED:
      return "connection refused";
    case ETIMEDOUT:
      return kNoAnswer;
    case EHOSTUNREACH:
    case ENETUNREACH:
      return "no route to it";
    default:
      return std::strerror(error);
  }
}

tl::expected<UniqueFd, int> ListenAt(std::uint16_t& port, PortUse use) {
  int error = EAFNOSUPPORT;
  for (const int family : {AF_INET6, AF_INET}) {
    UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
      error = errno;
      continue;
    }
    const int on = 1;
    const int off = 0;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (use == PortUse::kShared) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 six = {};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    sockaddr_in four = {};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    const bool is_six = family == AF_INET6;
    const auto* any = is_six ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
    if (::bind(socket.get(), any, is_six ? sizeof six : sizeof four) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
      error = errno;
      if (error == EADDRNOTAVAIL && is_six) continue;
      return tl::unexpected<int>(error);
    }
    sockaddr_in6 bound = {};
    socklen_t size = sizeof bound;
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    port = ntohs(bound.sin6_port);  // at the same offset for both families
    return socket;
  }
  return tl::unexpected<int>(error);
}

tl::expected<UniqueFd, int> ConnectTo(const std::string& address, std::uint16_t port) {
  sockaddr_in6 six = {};
  sockaddr_in four = {};
  const bool is_six = ::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) == 1;
  if (!is_six && ::inet_pton(AF_INET, address.c_str(), &four.sin_addr) != 1) return tl::unexpected<int>(EINVAL);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  UniqueFd socket(::socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return tl::unexpected<int>(errno);
  const linger at_once = {1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  const auto* to = is_six ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
  if (::connect(socket.get(), to, is_six ? sizeof six : sizeof four) != 0 && errno != EINPROGRESS) {
    return tl::unexpected<int>(errno);
  }
  return socket;
}

}  // namespace muster
