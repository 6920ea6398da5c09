// One run of the command that starts agents which dial back. Its exit code says nothing about the agents: it is
// reported only for agents that never connected.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "spawn/start/launcher.h"
#include "spawn/start/watched_fd.h"
#include "transport/dial_settings.h"
#include "transport/watched_command.h"

namespace muster {

class StartCommand : public std::enable_shared_from_this<StartCommand> {
 public:
  // How long a command whose agents are gone may take to end by itself, and then on SIGTERM, before it is killed. An
  // engine that is ended earlier may kill agents that are still cleaning up.
  static constexpr std::chrono::milliseconds kPartingTime{2'000};
  static constexpr std::chrono::milliseconds kTermTime{2'000};

  // Calls `ended` once, from the loop, but not after EndNow(). The error is a phrase.
  static tl::expected<std::shared_ptr<StartCommand>, std::string> Run(boost::asio::io_context& io, Launcher& launcher,
                                                                      const AgentStart& start,
                                                                      std::function<void()> ended);
  ~StartCommand() { EndNow(); }
  StartCommand(const StartCommand&) = delete;
  StartCommand& operator=(const StartCommand&) = delete;

  bool over() const { return command_->end().has_value(); }
  // Blocks until it ends, for that time at most.
  void AwaitEnd(std::chrono::nanoseconds time) const {
    if (!over() && time.count() > 0) command_->EndsWithin(time);
  }
  // "`srun` exited with code 1: srun: error: …": how it ended, if it has, and the last line that it wrote.
  std::string EndPhrase() const;
  // The last line that it wrote, safe for a terminal; empty if there is none.
  std::string LastWords() const;

  // The latest that it wrote before it was signalled from here; untrusted.
  std::string Words() const { return heard_ ? *heard_ : command_->Words(); }

  // None of its agents is needed any more: sees to its end in the background.
  void EndSoon();
  // The same, and waits for it.
  void EndNow();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  StartCommand(boost::asio::io_context& io, std::string name) : name_(std::move(name)), timer_(io.get_executor()) {}

  void Signal(int signal);
  void SignalAfter(std::chrono::milliseconds time, int signal);

  const std::string name_;
  std::shared_ptr<WatchedCommand> command_;
  Timer timer_;
  bool ending_ = false;
  std::optional<std::string> heard_;  // before it was signalled
};

}  // namespace muster
