// A process whose exit is watched.
//
// Depends on Boost.Process and Asio. The async_wait of Boost.Process v2 is not used, as it may block and cannot
// distinguish exit code 9 from SIGKILL: the loop watches the pidfd, and spawn/start/reap.h returns the exit status.
#pragma once

// clang-format off
#include <boost/asio/io_context.hpp>
#include <boost/optional.hpp>       // v2 with std::filesystem lacks these two
#include <boost/type_traits.hpp>
#include <boost/process/v2/process.hpp>
// clang-format on

#include <optional>
#include <utility>

#include <sys/types.h>

#include "spawn/start/reap.h"
#include "spawn/start/watched_fd.h"

namespace muster {

// Kills and reaps its process by pid when destroyed: detach() it before the process is reaped by other means, or a
// foreign process that reuses the pid is killed.
using ProcessHandle = boost::process::v2::basic_process<LoopExecutor>;

// Killed and reaped when destroyed, unless Detach() was called.
class LaunchedProcess {
 public:
  // Without a pidfd nothing is watched: call HasEnded(ref()) on SIGCHLD instead.
  explicit LaunchedProcess(pid_t pid) : pid_(pid) {}
  LaunchedProcess(ProcessHandle handle, WatchedFd ended)
      : pid_(handle.id()), handle_(std::move(handle)), ended_(std::move(ended)) {}
  LaunchedProcess(LaunchedProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), handle_(std::move(other.handle_)), ended_(std::move(other.ended_)) {
    other.handle_.reset();
    other.ended_.reset();
  }
  LaunchedProcess(const LaunchedProcess&) = delete;
  LaunchedProcess& operator=(const LaunchedProcess&) = delete;
  LaunchedProcess& operator=(LaunchedProcess&&) = delete;
  ~LaunchedProcess() {
    if (handle_ || pid_ < 0) return;
    KillChild({pid_, -1});
    ReapAtEnd({pid_, -1});
  }

  ChildRef ref() { return {pid_, ended_ && ended_->is_open() ? ended_->native_handle() : -1}; }
  pid_t pid() const { return pid_; }

  bool watched() const { return ended_.has_value(); }
  // Calls back once the process has exited (without reaping it), with an error if the watch was cancelled. Requires a
  // watch.
  template <class Callback>
  void AwaitEnd(Callback&& callback) {
    ended_->async_wait(WatchedFd::wait_read, std::forward<Callback>(callback));
  }

  // Stops the watch and releases the process, which is reaped by other means: its pid must not be used any more.
  void Detach() {
    if (handle_) handle_->detach();
    boost::system::error_code ignored;
    if (ended_) ended_->close(ignored);
    pid_ = -1;
  }

 private:
  pid_t pid_;
  std::optional<ProcessHandle> handle_;
  std::optional<WatchedFd> ended_;  // a pidfd: readable once the process has exited
};

}  // namespace muster
