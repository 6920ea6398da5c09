// The gate before sshd: lets so many ssh begin at a time as a ConnectWindow says.
//
// Knows the loop's time and chance. Asks ssh once, for the first host, whether its configuration leads over a jump
// host.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"
#include "spawn/start/watched_child.h"
#include "transport/connect_window.h"
#include "transport/ssh_command.h"

namespace muster {

class SshGate : public std::enable_shared_from_this<SshGate> {
 public:
  // `io` must outlive it.
  SshGate(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, SshSettings settings);

  // Calls `begin`, from the loop, when the connection of that number may begin, and again after each TurnedAway().
  void Enter(std::uint32_t connection, const std::string& host, std::function<void()> begin);
  // It is connected, or is over.
  void Passed(std::uint32_t connection);
  // False if it has been tried often enough.
  bool TurnedAway(std::uint32_t connection);

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void Ask(const std::string& host);
  void OnAnswer();
  void StopAsking();  // nobody waits for the answer any more
  void Pump();
  void PumpSoon();

  boost::asio::io_context& io_;
  std::shared_ptr<Launcher> launcher_;
  SshSettings settings_;
  ConnectWindow window_;
  Timer rest_;
  std::map<std::uint32_t, std::function<void()>> begin_;
  std::shared_ptr<WatchedChild> question_;
  UniqueFd answer_;
  bool asked_ = false;
  bool pumping_ = false;
};

}  // namespace muster
