// Whether other hosts can be reached from here, tried before anything of a job needs it: sockets that listen for a
// moment, and connections that end as soon as they are there.
//
// Knows sockets and the clock; who tries whom, and what a failure means, is the head's to say. Nothing is accepted:
// what the kernel answers is the answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/watched_fd.h"
#include "wire/protocol/inspection_messages.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

class PathProbe {
 public:
  using Done = std::function<void(const PathsProbed&)>;
  static constexpr std::size_t kMostTargets = kMostPathTargets;

  explicit PathProbe(boost::asio::io_context& io);
  PathProbe(const PathProbe&) = delete;
  PathProbe& operator=(const PathProbe&) = delete;
  ~PathProbe();

  // What listened before listens no more.
  PathsOpen Open(const OpenPaths& command);
  // `done` is called from the loop, unless there is a Close() before.
  void Try(const ProbePaths& command, Done done);
  bool trying() const { return static_cast<bool>(done_); }
  // Listens no more, and gives up what is being tried.
  void Close();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void Begin(std::size_t target, const PathTarget& to);
  void Ended(std::size_t target, int error);
  void Report();

  boost::asio::io_context& io_;
  Timer deadline_;
  std::vector<UniqueFd> listening_;
  std::vector<std::unique_ptr<WatchedFd>> going_;  // by target; none: it is known
  std::size_t left_ = 0;
  PathsProbed told_;
  Done done_;
  std::uint64_t round_ = 0;  // of Try(): what comes late from an earlier one counts no more
};

}  // namespace muster
