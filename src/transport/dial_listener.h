// Where agents dial back to: a listening socket, and the handshakes of those that connect to it.
//
// Depends on the loop and on the handshake's messages (wire/dial/dial_handshake.h); knows no channel and no command.
// Whoever reaches the port may connect, so every connection is a stranger until its proof holds: each has a time limit,
// their number is bounded, and one that fails is closed and counted, without any effect on the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "spawn/start/watched_fd.h"
#include "wire/dial/dial_handshake.h"

namespace muster {

// Connections that came to nothing.
struct DialCounts {
  std::uint32_t accepted = 0;
  std::uint32_t strangers = 0;  // no greeting of this session, or a wrong proof
  std::uint32_t slow = 0;       // not through with the handshake in time, or closed to make room
  std::uint32_t left = 0;       // closed by the other side: an agent that has come through at another address does that
  std::uint32_t unknown = 0;    // proven, for a node that is not awaited
  std::uint32_t twice = 0;      // proven, for a node that is connected

  bool operator==(const DialCounts&) const = default;
};

class DialListener : public std::enable_shared_from_this<DialListener> {
 public:
  // For a whole handshake.
  static constexpr std::chrono::milliseconds kHandshakeTime{5'000};
  // At most so many unproven connections at a time; if there are more, the oldest is closed once it has had this time.
  static constexpr std::size_t kMostUnproven = 256;
  static constexpr std::chrono::milliseconds kCrowdedTime{1'000};

  struct Events {
    // Of a node that has proven to know the token; asked right before the answer.
    std::function<DialVerdict(const std::string& node)> judge;
    // The verdict was kAccepted and has been sent; what follows on the connection is the agent protocol.
    std::function<void(const std::string& node, UniqueFd connection)> accepted;
  };

  // Listens at a port of the kernel's choice, on all addresses. `io` must outlive it. Kind "hosts" if that fails.
  static Result<std::shared_ptr<DialListener>> Open(boost::asio::io_context& io, std::string session, std::string token,
                                                    Events events);

  std::uint16_t port() const { return port_; }
  const DialCounts& counts() const { return counts_; }
  // Stops listening and closes all unproven connections: no further events.
  void Close();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;
  struct Stranger;
  using Strangers = std::list<std::shared_ptr<Stranger>>;  // in the order of arrival

  DialListener(boost::asio::io_context& io, std::string session, std::string token, Events events);

  void AwaitConnection();
  void TakeConnections();
  void AwaitBytes(const std::shared_ptr<Stranger>& stranger);
  void Read(const std::shared_ptr<Stranger>& stranger);
  void OnMessage(const std::shared_ptr<Stranger>& stranger);
  void Judge(const std::shared_ptr<Stranger>& stranger);
  static bool Write(Stranger& stranger, std::string_view bytes);
  // Closes the connection; `count` is incremented.
  void Drop(const std::shared_ptr<Stranger>& stranger, std::uint32_t& count);
  void AwaitOldest();
  Clock::time_point DueAt(const Stranger& stranger) const;

  boost::asio::io_context& io_;
  const std::string session_;
  const std::string token_;
  Events events_;
  WatchedFd socket_;
  Timer oldest_;
  Timer pause_;  // after the system had no descriptor for a connection
  std::uint16_t port_ = 0;
  bool accepting_ = false;  // that there is a connection is awaited
  Strangers strangers_;
  DialCounts counts_;
};

}  // namespace muster
