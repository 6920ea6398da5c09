// Where agents dial back to: a listening socket, and the handshakes of those that connect to it.
//
// Depends on the loop and on the handshake's messages (wire/dial/dial_handshake.h); knows no channel and no command.
// Every program that reaches the port can connect, so a connection is only a visitor until its proof holds: each has a
// time limit, their number is bounded, and one that fails is closed and counted, without any effect on the others.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "base/system/connection_places.h"
#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "spawn/start/watched_fd.h"
#include "wire/dial/dial_handshake.h"

namespace muster {

// Connections that came to nothing.
struct DialCounts {
  std::uint32_t accepted = 0;
  std::uint32_t unproven = 0;  // no greeting of this session, or a wrong proof
  std::uint32_t slow = 0;      // not through with the handshake in time, or closed to make room
  std::uint32_t left = 0;      // closed by the other side: an agent that has come through at another address does that
  std::uint32_t unknown = 0;   // proven, for a node that is not awaited
  std::uint32_t twice = 0;     // proven, for a node that is connected

  bool operator==(const DialCounts&) const = default;
};

// Of unproven connections.
struct DialLimits {
  std::chrono::milliseconds handshake_time{5'000};  // for a whole handshake
  // At most so many at a time, shared out by base/system/connection_places.h; if there are more, the oldest is closed
  // once it has had the crowded time, and newcomers wait.
  std::size_t most = 256;
  std::chrono::milliseconds crowded_time{1'000};
};

class DialListener : public std::enable_shared_from_this<DialListener> {
 public:
  struct Events {
    // Of a node that has proven to know the token; asked right before the answer.
    std::function<DialVerdict(const std::string& node)> judge;
    // The verdict was kAccepted and has been sent; what follows on the connection is the agent protocol.
    std::function<void(const std::string& node, UniqueFd connection)> accepted;
  };

  // Listens at a port of the kernel's choice, on all addresses. `io` must outlive it. Kind "hosts" if that fails.
  static Result<std::shared_ptr<DialListener>> Open(boost::asio::io_context& io, std::string session, std::string token,
                                                    Events events, DialLimits limits = {});

  std::uint16_t port() const { return port_; }
  const DialCounts& counts() const { return counts_; }
  // Stops listening and closes all unproven connections: no further events.
  void Close();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;
  struct Visitor;
  using Visitors = std::list<std::shared_ptr<Visitor>>;  // in the order of arrival

  DialListener(boost::asio::io_context& io, std::string session, std::string token, Events events, DialLimits limits);

  void AwaitConnection();
  void TakeConnections();
  // False: it has to give way.
  bool FindPlace(const UniqueFd& connection, const std::shared_ptr<Visitor>& visitor);
  void AwaitBytes(const std::shared_ptr<Visitor>& visitor);
  void Read(const std::shared_ptr<Visitor>& visitor);
  void OnMessage(const std::shared_ptr<Visitor>& visitor);
  void Judge(const std::shared_ptr<Visitor>& visitor);
  static bool Write(Visitor& visitor, std::string_view bytes);
  // Closes the connection; `count` is incremented.
  void Drop(const std::shared_ptr<Visitor>& visitor, std::uint32_t& count);
  void Forget(const std::shared_ptr<Visitor>& visitor);
  void AwaitOldest();
  Clock::time_point DueAt(const Visitor& visitor) const;

  boost::asio::io_context& io_;
  const std::string session_;
  const std::string token_;
  const Events events_;
  const DialLimits limits_;
  WatchedFd socket_;
  Timer oldest_;
  Timer pause_;  // after the system had no descriptor for a connection
  std::uint16_t port_ = 0;
  bool accepting_ = false;  // that there is a connection is awaited
  Visitors visitors_;
  ConnectionPlaces places_;
  DialCounts counts_;
};

}  // namespace muster
