// A launcher in the form that Boost.Process v2 expects: a callable that starts a process and returns v2's handle.
//
// Depends on Boost.Process and Asio. v2's own launchers are not used: in 1.81 they leak descriptors, leave zombies and
// take quadratic time.
#pragma once

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <tl/expected.hpp>

#include "spawn/start/launched_process.h"
#include "spawn/start/launcher.h"

namespace muster {

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
    // The process runs, but its exit could not be watched.
    KillChild(spawned->ref());
    ReapAtEnd(spawned->ref());
    return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kDescriptors, error, "to watch the process"});
  }

 private:
  Launcher* launcher_;
};

}  // namespace muster
