// The launcher as Boost.Process v2 wants one: a callable that starts a process and returns v2's handle.
//
// Knows Boost.Process and Asio. v2's own launchers are not used (in 1.81 they leak descriptors, leave
// zombies and cost quadratic time), nor is its async_wait, which may block and tells exit 9 from SIGKILL
// not at all: the pidfd is watched here, and spawn/reap.h says how the process ended.
#pragma once

// clang-format off
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/optional.hpp>       // v2 with std::filesystem forgets these two
#include <boost/type_traits.hpp>
#include <boost/process/v2/process.hpp>
// clang-format on

#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <tl/expected.hpp>

#include "spawn/reap.h"
#include "spawn/spawn.h"

namespace muster {

using LoopExecutor = boost::asio::io_context::executor_type;
using WatchedFd = boost::asio::posix::basic_stream_descriptor<LoopExecutor>;

// Kills and reaps its process when destroyed, by pid: detach() it before the process is reaped by other
// means, or a stranger that got the number is killed.
using ProcessHandle = boost::process::v2::basic_process<LoopExecutor>;

struct LaunchedProcess {
  ProcessHandle handle;
  WatchedFd ended;  // a pidfd: readable once the process has ended; not reaped by that
};

class BoostLauncher {
 public:
  explicit BoostLauncher(Launcher& launcher) : launcher_(&launcher) {}

  tl::expected<LaunchedProcess, SpawnError> operator()(const LoopExecutor& executor, const SpawnSpec& spec) const {
    auto spawned = launcher_->Spawn(spec);
    if (!spawned) return tl::unexpected<SpawnError>(std::move(spawned.error()));
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
        return LaunchedProcess{std::move(handle), std::move(ended)};
      } catch (const boost::system::system_error& refused) {
        error = refused.code().value();
      }
    }
    // It runs, but its end could not be watched.
    ::kill(spawned->pid, SIGKILL);
    while (::waitpid(spawned->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, error, "to watch the process"});
  }

 private:
  Launcher* launcher_;
};

}  // namespace muster
