// Limits how many ssh processes connect at a time, with a ConnectWindow.
//
// Uses the loop's time and random numbers. Runs ssh once, for the first host, to find out whether its configuration has
// a jump host.
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
  // `io` must outlive the gate.
  SshGate(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, SshSettings settings);

  // Calls `begin`, from the loop, when the connection of that number may begin, and for each retry (TurnedAway()).
  void Enter(std::uint32_t connection, const std::string& host, std::function<void()> begin);
  // The connection was established, or has ended.
  void Passed(std::uint32_t connection);
  // Schedules a retry. Returns false if the connection has been tried too often (ConnectWindow::kMostTries).
  bool TurnedAway(std::uint32_t connection);

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void Ask(const std::string& host);
  void OnAnswer();
  void StopAsking();  // the answer is not needed any more
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
