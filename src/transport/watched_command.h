// A command that starts agents (ssh, an engine's start command): a child process whose end the loop waits for, and
// whose latest output on stderr is kept.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"
#include "spawn/start/watched_child.h"
#include "spawn/start/watched_fd.h"

namespace muster {

class WatchedCommand : public std::enable_shared_from_this<WatchedCommand> {
 public:
  // Bytes of output that are kept: the latest.
  static constexpr std::size_t kMostWords = 8U << 10;

  // Starts the process with this process's environment and a stderr of its own, in a session of its own. Calls
  // `ended` once, from the loop, when the process has ended, but not after Take(). The error is a phrase.
  static tl::expected<std::shared_ptr<WatchedCommand>, std::string> Start(boost::asio::io_context& io,
                                                                          Launcher& launcher, SpawnSpec spec,
                                                                          std::function<void()> ended);

  // All that has arrived; untrusted bytes.
  const std::string& Words() {
    ReadWords();
    return words_;
  }
  // Calls `heard` from the loop whenever more has arrived.
  void OnWords(std::function<void()> heard) { heard_ = std::move(heard); }
  // The exit status; nothing before Take().
  const std::optional<EndedProcess>& end() const { return end_; }
  void Signal(int signal);
  // Whether it ends within that time, which this blocks for.
  bool EndsWithin(std::chrono::nanoseconds time);
  // Reaps it, and reads the rest of its words; waits for its end if it has been killed. Once.
  void Take();

 private:
  WatchedCommand(boost::asio::io_context& io, LaunchedProcess process);

  void AwaitWords();
  bool ReadWords();

  std::shared_ptr<WatchedChild> child_;
  WatchedFd err_;
  std::string words_;
  std::function<void()> heard_;
  std::optional<EndedProcess> end_;
};

}  // namespace muster
