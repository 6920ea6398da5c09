// The launcher as Boost.Process v2 wants one: a callable that starts a process and returns v2's handle.
//
// Knows Boost.Process and Asio. v2's own launchers are not used (in 1.81 they leak descriptors, leave
// zombies and cost quadratic time), nor is its async_wait, which may block and tells exit 9 from SIGKILL
// not at all: the pidfd is watched here, and spawn/start/reap.h says how the process ended.
#pragma once

// clang-format off
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/optional.hpp>       // v2 with std::filesystem forgets these two
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

// Kills and reaps its process when destroyed, by pid: detach() it before the process is reaped by other
// means, or a stranger that got the number is killed.
using ProcessHandle = boost::process::v2::basic_process<LoopExecutor>;

// A process with the watch over its end. Killed and reaped when destroyed, unless Detach() was called.
class LaunchedProcess {
 public:
  // Without a pidfd nothing is watched: SIGCHLD tells whoever asks HasEnded(ref()) then.
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
  // Calls back once the process has ended (it is not reaped by that), with an error if the watch was given up. Only if
  // it is watched.
  template <class Callback>
  void AwaitEnd(Callback&& callback) {
    ended_->async_wait(WatchedFd::wait_read, std::forward<Callback>(callback));
  }

  // It has been reaped by other means, or will be: from here on its pid is not to be used. Ends the watch.
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
    // Two descriptors: the handle keeps its own to itself, and one number cannot be in an epoll set twice.
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
    // It runs, but its end could not be watched.
    KillChild(spawned->ref());
    ReapAtEnd(spawned->ref());
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, error, "to watch the process"});
  }

 private:
  Launcher* launcher_;
};

}  // namespace muster
