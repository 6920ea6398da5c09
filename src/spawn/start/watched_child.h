// A child process whose exit the loop waits for, through a pidfd if available, else through SIGCHLD.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include "spawn/start/launched_process.h"
#include "spawn/start/reap.h"

namespace muster {

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

}  // namespace muster
