// See socket.h.
#include "ps_digits/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ps_digits {
namespace {

constexpr int kBacklog = 4096;
constexpr auto kShortestPause = std::chrono::milliseconds(10);
constexpr auto kLongestPause = std::chrono::milliseconds(500);
// A host that drops packets must not use up the whole time in one attempt.
constexpr auto kAttempt = std::chrono::seconds(3);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

SocketAddress ToSocketAddress(const Endpoint& endpoint) {
  SocketAddress result;
  const auto bytes = endpoint.address.bytes();
  if (endpoint.address.is_v6()) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    std::memcpy(&v6.sin6_addr, bytes.data(), bytes.size());
    std::memcpy(&result.storage, &v6, sizeof v6);
    result.length = sizeof v6;
  } else {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    std::memcpy(&v4.sin_addr, bytes.data(), bytes.size());
    std::memcpy(&result.storage, &v4, sizeof v4);
    result.length = sizeof v4;
  }
  return result;
}

Endpoint ToEndpoint(const SocketAddress& address) {
  Endpoint endpoint;
  if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address.storage, sizeof v6);
    endpoint.address = *Address::FromBytes({v6.sin6_addr.s6_addr, 16});
    endpoint.port = ntohs(v6.sin6_port);
  } else {
    sockaddr_in v4{};
    std::memcpy(&v4, &address.storage, sizeof v4);
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
    endpoint.address = *Address::FromBytes(bytes);
    endpoint.port = ntohs(v4.sin_port);
  }
  return endpoint;
}

Result<Socket> Open(const Address& address) {
  const int family = address.is_v6() ? AF_INET6 : AF_INET;
  Socket socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return SystemFailure("cannot open a socket", errno);
  return socket;
}

void SendWithoutDelay(const Socket& socket) {
  const int on = 1;  // messages are small, and peers wait for them; without this a socket is only slow
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// 0 when connected, else the error number.
int TryConnect(const Socket& socket, const Endpoint& endpoint, Clock::duration patience) {
  SocketAddress address = ToSocketAddress(endpoint);
  if (connect(socket.fd(), address.get(), address.length) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  const auto until = Clock::now() + patience;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return ETIMEDOUT;
    pollfd waiting{socket.fd(), POLLOUT, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000))) > 0) break;
  }
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

// The kernel may pick the wanted port as the local one if nobody listens there: TCP then connects the socket to itself.
bool IsConnectedToItself(const Socket& socket, const Endpoint& endpoint) {
  const auto local = LocalEndpoint(socket);
  return local.has_value() && *local == endpoint;
}

struct Attempt {
  Socket socket;
  int error = 0;
};

Result<Attempt> AttemptConnect(const Endpoint& endpoint, Clock::duration patience) {
  auto socket = Open(endpoint.address);
  if (!socket) return socket.error();
  int error = TryConnect(*socket, endpoint, patience);
  if (error == 0 && IsConnectedToItself(*socket, endpoint)) error = ECONNREFUSED;
  SendWithoutDelay(*socket);
  return Attempt{std::move(*socket), error};
}

bool MayPass(int error) {
  return error == ECONNREFUSED || error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ||
         error == ECONNRESET || error == ECONNABORTED || error == EADDRNOTAVAIL || error == EINTR || error == EAGAIN;
}

}  // namespace

void Socket::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Result<Socket> Listen(const Endpoint& endpoint) {
  auto socket = Open(endpoint.address);
  if (!socket) return socket.error();
  const int on = 1;
  setsockopt(socket->fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  SocketAddress address = ToSocketAddress(endpoint);
  if (bind(socket->fd(), address.get(), address.length) != 0 || listen(socket->fd(), kBacklog) != 0) {
    return SystemFailure("cannot listen on " + endpoint.text(), errno);
  }
  return socket;
}

Result<Endpoint> LocalEndpoint(const Socket& socket) {
  SocketAddress address;
  if (getsockname(socket.fd(), address.get(), &address.length) != 0) return SystemFailure("getsockname", errno);
  return ToEndpoint(address);
}

Result<std::optional<Accepted>> Accept(const Socket& listener) {
  using Maybe = std::optional<Accepted>;
  SocketAddress address;
  Socket socket(accept4(listener.fd(), address.get(), &address.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) {
    SendWithoutDelay(socket);
    return Maybe(Accepted{std::move(socket), ToEndpoint(address)});
  }
  // These errors would repeat at once; all others concern one visitor, which has disconnected.
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    return SystemFailure("cannot accept a connection", errno);
  }
  return Maybe();
}

Result<Socket> Connect(const Endpoint& endpoint, Clock::duration patience) {
  auto attempt = AttemptConnect(endpoint, patience);
  if (!attempt) return attempt.error();
  if (attempt->error != 0) return SystemFailure("cannot connect to " + endpoint.text(), attempt->error);
  return std::move(attempt->socket);
}

Result<Socket> ConnectWithRetry(const Endpoint& endpoint, std::optional<Clock::time_point> until) {
  auto pause = std::chrono::duration_cast<Clock::duration>(kShortestPause);
  while (true) {
    const auto left = until ? *until - Clock::now() : Clock::duration::max();
    auto attempt = AttemptConnect(endpoint, std::min<Clock::duration>(left, kAttempt));
    if (!attempt) return attempt.error();
    if (attempt->error == 0) return std::move(attempt->socket);
    const bool over = until && Clock::now() + pause >= *until;
    if (over || !MayPass(attempt->error)) return SystemFailure("cannot connect to " + endpoint.text(), attempt->error);
    std::this_thread::sleep_for(pause);
    pause = std::min<Clock::duration>(pause * 2, kLongestPause);
  }
}

}  // namespace ps_digits
