#include "agent/path_trial.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <arpa/inet.h>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace muster {
namespace {

constexpr const char* kNoAnswer = "no answer";

// The words that are told of ssh, where it is the same.
std::string ErrorText(int error) {
  switch (error) {
    case 0:
      return {};
    case ECONNREFUSED:
      return "connection refused";
    case ETIMEDOUT:
      return kNoAnswer;
    case EHOSTUNREACH:
    case ENETUNREACH:
      return "there is no way to it";
    default:
      return std::strerror(error);
  }
}

// A socket that listens on every address of IPv4 and IPv6, or errno. 0: a port of the kernel's choice, which is told.
tl::expected<UniqueFd, int> ListenAt(std::uint16_t& port) {
  int error = EAFNOSUPPORT;
  for (const int family : {AF_INET6, AF_INET}) {
    UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
      error = errno;
      continue;
    }
    const int on = 1;
    const int off = 0;
    // Beside the socket that holds the port, which has set both, too.
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
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
    port = ntohs(bound.sin6_port);  // both families have it in the same place
    return socket;
  }
  return tl::unexpected<int>(error);
}

// A connection that is being made, or errno.
tl::expected<UniqueFd, int> ConnectTo(const PathTarget& to) {
  sockaddr_in6 six = {};
  sockaddr_in four = {};
  const bool is_six = ::inet_pton(AF_INET6, to.address.c_str(), &six.sin6_addr) == 1;
  if (!is_six && ::inet_pton(AF_INET, to.address.c_str(), &four.sin_addr) != 1) return tl::unexpected<int>(EINVAL);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(to.port);
  four.sin_family = AF_INET;
  four.sin_port = htons(to.port);
  UniqueFd socket(::socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return tl::unexpected<int>(errno);
  // It ends without leaving a trace (TIME_WAIT) on either side.
  const linger at_once = {1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  const auto* address = is_six ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
  if (::connect(socket.get(), address, is_six ? sizeof six : sizeof four) != 0 && errno != EINPROGRESS) {
    return tl::unexpected<int>(errno);
  }
  return socket;
}

}  // namespace

PathTrial::PathTrial(boost::asio::io_context& io) : io_(io), deadline_(io.get_executor()) {}

PathTrial::~PathTrial() { Close(); }

PathsOpen PathTrial::Open(const OpenPaths& command) {
  listening_.clear();
  PathsOpen open;
  std::vector<std::uint16_t> ports = command.ports;
  ports.push_back(0);
  for (std::uint16_t port : ports) {
    const bool own = port == 0;
    auto socket = ListenAt(port);
    if (!socket) {
      open.error = fmt::format("port {} cannot be listened at: {}", port, std::strerror(socket.error()));
      listening_.clear();
      return open;
    }
    listening_.push_back(std::move(*socket));
    if (own) open.port = port;
  }
  return open;
}

void PathTrial::Try(const TryPaths& command, Done done) {
  done_ = std::move(done);
  ++round_;
  told_.errors.assign(command.targets.size(), kNoAnswer);
  left_ = command.targets.size();
  going_.clear();
  going_.resize(command.targets.size());
  // Not before it returns, as with every other answer.
  boost::asio::post(io_, [this, round = round_, command] {
    if (round != round_ || !done_) return;
    if (left_ == 0) return Tell();
    deadline_.expires_after(std::chrono::milliseconds(command.within_ms));
    deadline_.async_wait([this, round](const boost::system::error_code& error) {
      if (!error && round == round_ && done_) Tell();
    });
    for (std::size_t i = 0; i < command.targets.size() && done_; ++i) Begin(i, command.targets[i]);
  });
}

void PathTrial::Begin(std::size_t target, const PathTarget& to) {
  auto socket = ConnectTo(to);
  if (!socket) return Ended(target, socket.error());
  auto watched = std::make_unique<WatchedFd>(io_.get_executor());
  boost::system::error_code refused;
  watched->assign(socket->get(), refused);
  if (refused) return Ended(target, refused.value());
  const int fd = socket->release();
  going_[target] = std::move(watched);
  going_[target]->async_wait(WatchedFd::wait_write,
                             [this, target, fd, round = round_](const boost::system::error_code& gone) {
                               if (gone || round != round_ || !done_) return;
                               int error = 0;
                               socklen_t size = sizeof error;
                               ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
                               Ended(target, error);
                             });
}

void PathTrial::Ended(std::size_t target, int error) {
  told_.errors[target] = ErrorText(error);
  going_[target].reset();
  if (--left_ == 0) Tell();
}

void PathTrial::Tell() {
  deadline_.cancel();
  going_.clear();
  const Done done = std::exchange(done_, nullptr);
  done(std::exchange(told_, {}));
}

void PathTrial::Close() {
  listening_.clear();
  deadline_.cancel();
  going_.clear();
  done_ = nullptr;
}

}  // namespace muster
