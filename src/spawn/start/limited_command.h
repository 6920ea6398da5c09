// Work in another process for a limited time: a command whose output is kept, a command that a loop watches while it
// stays free, and a function that runs in a copy of this process and returns a text.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"
#include "spawn/start/watched_child.h"
#include "spawn/start/watched_fd.h"

namespace muster {

// Runs one command to its end and keeps what it prints, up to a limit.

struct CommandOutput {
  int exit_code = -1;  // -1: it could not be started, was killed, or took too long
  std::string out;
  std::string err;
  bool started = false;
  bool late = false;  // it was killed because it took too long
};

// A running command. Killed and reaped if it is destroyed before Take().
class CapturedCommand {
 public:
  static constexpr std::size_t kMaxBytes = 64U << 20;  // of each output; a command that prints more gets SIGXFSZ

  // `spec` without stdin, stdout and stderr. It gets a process group of its own, since keyboard signals of the terminal
  // are for muster, and is killed with this thread. `input` is its stdin. Where it cannot be started, it is not
  // going().
  CapturedCommand(Launcher& launcher, SpawnSpec spec, std::string_view input = {});
  CapturedCommand(const CapturedCommand&) = delete;
  CapturedCommand& operator=(const CapturedCommand&) = delete;
  ~CapturedCommand();

  // The process is running.
  bool going() const { return pid_.has_value(); }
  const ChildRef& ref() const { return *pid_; }
  // Waits for the end, at most so long; then kills it.
  CommandOutput Take(std::chrono::milliseconds within);

 private:
  std::optional<ChildRef> pid_;
  UniqueFd pidfd_;
  UniqueFd out_;
  UniqueFd err_;
};

// A command that may take a limited time, watched by a loop: gets an input, its output is discarded, and the latest
// that it wrote to stderr is kept.
//
// It runs in a process group of its own in this process's session, since keyboard signals of the terminal are for
// muster, and is killed with this thread. What it started and left in its group is killed at its end. It can print as
// much as it likes: a flood is read slowly, so that neither the loop nor the memory of this process fills.
class LimitedCommand : public std::enable_shared_from_this<LimitedCommand> {
 public:
  static constexpr std::size_t kMaxWords = 4U << 10;    // bytes of stderr that are kept: the latest
  static constexpr std::size_t kMaxAtOnce = 64U << 10;  // bytes that are read without a pause

  struct End {
    bool late = false;  // it was killed because it took too long
    EndedProcess process;
    std::string words;  // untrusted bytes
  };

  // `spec` without stdin, stdout and stderr. Calls `ended` once, from the loop, unless the object is destroyed before:
  // then the command is killed. `io` must outlive it. The error is a phrase.
  static tl::expected<std::shared_ptr<LimitedCommand>, std::string> Start(boost::asio::io_context& io,
                                                                          Launcher& launcher, SpawnSpec spec,
                                                                          std::string_view input,
                                                                          std::chrono::milliseconds within,
                                                                          std::function<void(End end)> ended);
  ~LimitedCommand();
  LimitedCommand(const LimitedCommand&) = delete;
  LimitedCommand& operator=(const LimitedCommand&) = delete;

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  LimitedCommand(boost::asio::io_context& io, LaunchedProcess process, std::function<void(End end)> ended);

  void AwaitWords();
  // False at the end of the stream.
  bool ReadWords();
  void OnEnd();

  std::shared_ptr<WatchedChild> child_;
  WatchedFd err_;
  Timer deadline_;
  Timer pause_;
  std::function<void(End end)> ended_;
  std::size_t read_ = 0;
  bool late_ = false;
  std::string words_;
};

// Runs a function in a copy of this process, and delivers the text that it returns through the loop, which stays free
// meanwhile.
class ForkedFunction {
 public:
  // `compute` runs in the copy, which has of this process's descriptors only 0 to 2, default actions for signals, and
  // is killed with this process; it must not use the loop. `done` is called once from the loop: with the text, or
  // without one if the copy did not complete it. It may destroy this object. The error is an errno. Call it with one
  // thread.
  static tl::expected<std::unique_ptr<ForkedFunction>, int> Start(
      boost::asio::io_context& io, const std::function<std::string()>& compute,
      std::function<void(std::optional<std::string> text)> done);
  // Kills the copy if it still runs; `done` is not called any more.
  ~ForkedFunction();
  ForkedFunction(const ForkedFunction&) = delete;
  ForkedFunction& operator=(const ForkedFunction&) = delete;

 private:
  struct Copy;
  explicit ForkedFunction(std::shared_ptr<Copy> copy);
  std::shared_ptr<Copy> copy_;
};

}  // namespace muster
