// A child process whose exit the loop waits for, through a pidfd if available, else through SIGCHLD, and a launcher
// in the form that Boost.Process v2 expects, which starts one. Depends on Boost.Process and Asio. The launchers of v2
// itself are not used: in 1.81 they leak descriptors, leave zombies and take quadratic time.
#pragma once

#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <fcntl.h>
#include <tl/expected.hpp>

#include "spawn/start/launched_process.h"
#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"

namespace muster {

// A child process whose exit the loop waits for, through a pidfd if available, else through SIGCHLD.
class WatchedChild : public std::enable_shared_from_this<WatchedChild> {
 public:
  WatchedChild(boost::asio::io_context& io, LaunchedProcess process)
      : io_(io), process_(std::move(process)), signals_(io) {}

  ChildRef ref() { return process_.ref(); }
  pid_t pid() const { return process_.pid(); }  // -1 after Take()

  // Calls `ended` once the child has exited, but not after Take(). Does not reap it.
  void AwaitEnd(std::function<void()> ended) {
    auto look = [self = shared_from_this(), ended](const boost::system::error_code& error) {
      if (error || self->pid() < 0) return;
      if (HasEnded(self->ref())) return ended();
      self->AwaitEnd(ended);
    };
    if (process_.watched()) return process_.AwaitEnd(std::move(look));
    // SIGCHLD may be for another child, and may have arrived before this wait.
    boost::system::error_code ignored;
    signals_.add(SIGCHLD, ignored);
    signals_.async_wait([look](const boost::system::error_code& error, int) { look(error); });
    if (!HasEnded(ref())) return;
    signals_.cancel(ignored);
    boost::asio::post(io_, [look] { look({}); });
  }

  // Kills it and the process group that it leads. Before Take(): its number is that of no other group.
  void KillGroup() {
    if (pid() > 0) ::kill(-pid(), SIGKILL);
    KillChild(ref());
  }
  // Returns the exit status; waits for the end if the child has been killed.
  EndedProcess Take() {
    const EndedProcess end = ReapAtEnd(ref());
    process_.Detach();
    boost::system::error_code ignored;
    signals_.cancel(ignored);
    return end;
  }

  // Does not wait any more for a child that was killed and does not end (it hangs in the kernel).
  void Leave() {
    process_.Detach();
    boost::system::error_code ignored;
    signals_.cancel(ignored);
  }

 private:
  boost::asio::io_context& io_;
  LaunchedProcess process_;
  boost::asio::signal_set signals_;
};

// A launcher in the form that Boost.Process v2 expects: a callable that starts a process and returns v2's handle.
//
// Depends on Boost.Process and Asio. v2's own launchers are not used: in 1.81 they leak descriptors, leave zombies and
// take quadratic time.
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
