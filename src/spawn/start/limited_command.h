// A command that may take a limited time, watched by a loop: gets an input, its output is discarded, and the latest
// that it wrote to stderr is kept.
//
// It runs in a process group of its own in this process's session, since keyboard signals of the terminal are for
// muster, and is killed with this thread. What it started and left in its group is killed at its end. It can print as
// much as it likes: a flood is read slowly, so that neither the loop nor the memory of this process fills.
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

#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"
#include "spawn/start/watched_child.h"
#include "spawn/start/watched_fd.h"

namespace muster {

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
  void KillGroup();
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

}  // namespace muster
