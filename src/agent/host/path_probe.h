// Tests whether other hosts can be reached, before a job depends on it: sockets that listen temporarily, and
// connections that are closed as soon as they are established.
//
// Handles sockets and the clock; the head decides which hosts are tested and what a failure means. Connections are
// never accepted: the answer of the kernel is sufficient.
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

  // Earlier sockets stop listening.
  PathsOpen Open(const OpenPaths& command);
  // `done` is called from the loop, unless Close() is called before.
  void Try(const ProbePaths& command, Done done);
  bool trying() const { return static_cast<bool>(done_); }
  // Stops listening, and cancels running tests.
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
  std::vector<std::unique_ptr<WatchedFd>> going_;  // by target; empty: finished
  std::size_t left_ = 0;
  PathsProbed reported_;
  Done done_;
  std::uint64_t round_ = 0;  // of Try(): late results of an earlier round are ignored
};

}  // namespace muster
