// A launcher in the form that Boost.Process v2 expects: a callable that starts a process and returns v2's handle.
//
// Depends on Boost.Process and Asio. v2's own launchers are not used (in 1.81 they leak descriptors, leave zombies and
// take quadratic time), nor is its async_wait, which may block and cannot distinguish exit 9 from SIGKILL: here the
// loop watches a pidfd, and spawn/start/reap.h returns the exit status.
#pragma once

// clang-format off
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/optional.hpp>       // v2 with std::filesystem lacks these two includes
#include <boost/type_traits.hpp>
#include <boost/process/v2/process.hpp>
// clang-format on

#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <tl/expected.hpp>

#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"

namespace muster {

using LoopExecutor = boost::asio::io_context::executor_type;
using WatchedFd = boost::asio::posix::basic_stream_descriptor<LoopExecutor>;

// Kills and reaps its process by pid when destroyed: detach() it before the process is reaped by other means, or a
// foreign process that reuses the pid is killed.
using ProcessHandle = boost::process::v2::basic_process<LoopExecutor>;

// A process whose end is watched. Killed and reaped when destroyed, unless Detach() was called.
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
  // Calls back once the process has ended (without reaping it), with an error if the watch was cancelled. Requires a
  // watch.
  template <class Callback>
  void AwaitEnd(Callback&& callback) {
    ended_->async_wait(WatchedFd::wait_read, std::forward<Callback>(callback));
  }

  // Ends the watch and releases the process, which is reaped by other means: its pid must not be used any more.
  void Detach() {
    if (handle_) handle_->detach();
    boost::system::error_code ignored;
    if (ended_) ended_->close(ignored);
    pid_ = -1;
  }

 private:
  pid_t pid_;
  std::optional<ProcessHandle> handle_;
  std::optional<WatchedFd> ended_;  // a pidfd: readable once the process has ended
};

class BoostLauncher {
 public:
  explicit BoostLauncher(Launcher& launcher) : launcher_(&launcher) {}

  tl::expected<LaunchedProcess, SpawnError> operator()(const LoopExecutor& executor, const SpawnSpec& spec) const {
    auto spawned = launcher_->Spawn(spec);
    if (!spawned) return tl::unexpected<SpawnError>(std::move(spawned.error()));
    if (!spawned->pidfd) return LaunchedProcess(spawned->pid);
    int error = 0;
    // Two descriptors: the handle does not share its own, and a descriptor cannot be in an epoll set twice.
    UniqueFd watched(::fcntl(spawned->pidfd.get(), F_DUPFD_CLOEXEC, 0));
    if (!watched) error = errno;
    if (error == 0) {
      try {
        WatchedFd ended(executor, watched.get());
        watched.release();
        const int pidfd = spawned->pidfd.get();
        ProcessHandle handle(executor, spawned->pid, pidfd);
        spawned->pidfd.release();
        return LaunchedProcess(std::move(handle), std::move(ended));
      } catch (const boost::system::system_error& refused) {
        error = refused.code().value();
      }
    }
    // The process runs, but its end could not be watched.
    KillChild(spawned->ref());
    ReapAtEnd(spawned->ref());
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, error, "to watch the process"});
  }

 private:
  Launcher* launcher_;
};

}  // namespace muster
