// The pseudo-terminals of processes, and the copying between them, their logs and the head.
//
// Handles descriptors and the messages about them; independent of what processes write. Nothing blocks the loop, and
// memory is bounded: a slow reader delays only the process at the pseudo-terminal. No byte is dropped: if the disk
// rejects a write it is tried again, and nothing more is read until it succeeds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"
#include "spawn/start/watched_fd.h"
#include "wire/protocol/protocol.h"

namespace muster {

class PtySet {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;
  using Tell = std::function<void(const AgentMessage&)>;

  static constexpr std::chrono::seconds kDiskPause{1};
  static constexpr std::size_t kDescriptorsPerPty = 3;

  PtySet(boost::asio::io_context& io, Tell tell);

  // Creates a pseudo-terminal for an attempt that is about to start; `log` receives its output. Returns the process's
  // terminal, which remains open here.
  tl::expected<int, SpawnError> Open(const Key& key, const PtySize& size, UniqueFd log);
  // The attempt could not be started.
  void Drop(const Key& key) { ptys_.erase(key); }
  // The attempt is running. Sends PtyOpened if it has a pseudo-terminal, then its output from the loop.
  void Began(const Key& key);
  // False if the input exceeds the flow-control window.
  bool Typed(const PtyBytes& typed);
  void Taken(const PtyTaken& taken);
  void Resized(const PtyResized& resized);
  // The process has been reaped: forwards its remaining output, sends PtyClosed, and hangs up any process that still
  // has the terminal open.
  void Ended(const Key& key);
  // The same for all.
  void EndAll();

  std::size_t size() const { return ptys_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  struct Pty {
    explicit Pty(const LoopExecutor& executor) : master(executor) {}

    WatchedFd master;
    UniqueFd slave;  // kept open, so that closing and reopening the terminal in a process is not a hang-up
    UniqueFd log;
    std::string unlogged;  // sent to the head, but not yet written to the log
    std::string typed;     // not yet accepted by the terminal
    std::size_t granted = kPtyWindow;
    std::uint64_t bytes = 0;
    bool reading = false;
    bool writing = false;
  };

  Pty* Find(ProcessId process, std::uint32_t attempt);
  void AwaitWritten(const Key& key, Pty& pty);
  // Reads once, at most `most` bytes; returns their number.
  std::size_t Copy(const Key& key, Pty& pty, std::size_t most);
  static void WriteDown(Pty& pty);
  void PassTyped(const Key& key, Pty& pty);
  void TryDiskAgain();

  boost::asio::io_context& io_;
  Tell tell_;
  std::map<Key, Pty> ptys_;
  Timer disk_;
  bool disk_waits_ = false;
};

}  // namespace muster
