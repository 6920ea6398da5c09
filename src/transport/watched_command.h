// Commands around agents: a child process whose end the loop waits for and whose latest output on stderr is kept
// (ssh, an engine's start command), and a command that holds something for this process, such as an allocation of an
// engine, until its stdin ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"
#include "spawn/start/watched_child.h"
#include "spawn/start/watched_fd.h"

namespace muster {

// A command that starts agents (ssh, an engine's start command): a child process whose end the loop waits for, and
// whose latest output on stderr is kept.
class WatchedCommand : public std::enable_shared_from_this<WatchedCommand> {
 public:
  // Bytes of output that are kept: the latest.
  static constexpr std::size_t kMaxWords = 8U << 10;

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

// A command that holds something for this process (an allocation of an engine) until its stdin ends: what it prints,
// its messages, and its end.
//
// Depends on the loop and the system. The command gets SIGHUP when this process ends in any way, since it may not read
// its stdin before it holds anything. Its stdin ends at the same moment, so that the signal may arrive while it gives
// back what it held: salloc calls slurmctld from its handlers of all other signals, and waits for ever there if it
// was calling it already (Slurm 22.05, src/salloc/salloc.c).
class HeldCommand : public std::enable_shared_from_this<HeldCommand> {
 public:
  // How long the destructor waits for its end.
  static constexpr std::chrono::seconds kPartingTime{2};
  // Bytes of output that are kept; a command that prints more is not listened to any more.
  static constexpr std::size_t kMaxOutput = 4U << 20;

  // Called from the loop.
  struct Calls {
    std::function<void()> printed;  // on stdout, more than before
    std::function<void()> heard;    // on stderr
    std::function<void()> ended;    // once, the last call
  };

  // `input` is the beginning of its stdin, at most a page. The error is a phrase. `io` must outlive the object.
  static tl::expected<std::shared_ptr<HeldCommand>, std::string> Start(boost::asio::io_context& io,
                                                                       const std::vector<std::string>& argv,
                                                                       std::string_view input, Calls calls);
  // If it is not over, releases it, asks it to end and waits for that.
  ~HeldCommand();
  HeldCommand(const HeldCommand&) = delete;
  HeldCommand& operator=(const HeldCommand&) = delete;

  const std::string& output() const { return output_; }     // untrusted
  const std::string& words() { return command_->Words(); }  // the latest on stderr; untrusted
  bool over() const { return command_->end().has_value(); }
  // These only once it is over.
  std::string EndText() const;  // "exited with code 1"
  bool killed() const { return command_->end()->signalled; }

  // Ends its stdin; the command is expected to end.
  void Release() { stdin_.reset(); }
  // SIGHUP, for a command that does not read its stdin yet; SIGKILL if it has not ended after `patience`.
  void AskToEnd(std::chrono::milliseconds patience);

 private:
  HeldCommand(boost::asio::io_context& io, Calls calls)
      : calls_(std::move(calls)), out_(io.get_executor()), patience_(io) {}

  void AwaitOutput();
  bool ReadOutput();
  void OnEnd();

  Calls calls_;
  UniqueFd stdin_;
  WatchedFd out_;
  boost::asio::steady_timer patience_;
  std::string output_;
  std::shared_ptr<WatchedCommand> command_;
};

}  // namespace muster
