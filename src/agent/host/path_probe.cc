#include "agent/host/path_probe.h"

#include <cstring>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "base/system/tcp_socket.h"

namespace muster {

PathProbe::PathProbe(boost::asio::io_context& io) : io_(io), deadline_(io.get_executor()) {}

PathProbe::~PathProbe() { Close(); }

PathsOpen PathProbe::Open(const OpenPaths& command) {
  listening_.clear();
  PathsOpen open;
  std::vector<std::uint16_t> ports = command.ports;
  ports.push_back(0);
  for (std::uint16_t port : ports) {
    const bool own = port == 0;
    auto socket = ListenAt(port, PortUse::kShared);  // in addition to the socket that holds the port
    if (!socket) {
      open.error = fmt::format("cannot listen on port {}: {}", port, std::strerror(socket.error()));
      listening_.clear();
      return open;
    }
    listening_.push_back(std::move(*socket));
    if (own) open.port = port;
  }
  return open;
}

void PathProbe::Try(const ProbePaths& command, Done done) {
  done_ = std::move(done);
  ++round_;
  reported_.errors.assign(command.targets.size(), kNoAnswer);
  left_ = command.targets.size();
  going_.clear();
  going_.resize(command.targets.size());
  // Not before it returns, as with every other answer.
  boost::asio::post(io_, [this, round = round_, command] {
    if (round != round_ || !done_) return;
    if (left_ == 0) return Report();
    deadline_.expires_after(std::chrono::milliseconds(command.within_ms));
    deadline_.async_wait([this, round](const boost::system::error_code& error) {
      if (!error && round == round_ && done_) Report();
    });
    for (std::size_t i = 0; i < command.targets.size() && done_; ++i) Begin(i, command.targets[i]);
  });
}

void PathProbe::Begin(std::size_t target, const PathTarget& to) {
  auto socket = ConnectTo(to.address, to.port);
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

void PathProbe::Ended(std::size_t target, int error) {
  reported_.errors[target] = ConnectErrorText(error);
  going_[target].reset();
  if (--left_ == 0) Report();
}

void PathProbe::Report() {
  deadline_.cancel();
  going_.clear();
  const Done done = std::exchange(done_, nullptr);
  done(std::exchange(reported_, {}));
}

void PathProbe::Close() {
  listening_.clear();
  deadline_.cancel();
  going_.clear();
  done_ = nullptr;
}

}  // namespace muster
