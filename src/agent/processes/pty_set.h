// The pseudo-terminals of processes, and the copying between them, their logs and the head.
//
// Knows descriptors and the messages about them; not who started a process, nor what it writes. Nothing blocks the
// loop, and memory is bounded: who reads slowly is waited for, which the process at the pseudo-terminal feels, and
// nobody else. No byte is dropped: what the disk does not take is tried again, and nothing more is read until it did.
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

  // Makes one for an attempt that is about to start; `log` gets what is written there. Gives the process's terminal,
  // which stays open here.
  tl::expected<int, SpawnError> Open(const Key& key, const PtySize& size, UniqueFd log);
  // It did not start.
  void Drop(const Key& key) { ptys_.erase(key); }
  // It runs. Tells PtyOpened, if there is one, and from the loop what is written.
  void Began(const Key& key);
  // False if it is more than was granted.
  bool Typed(const PtyBytes& typed);
  void Taken(const PtyTaken& taken);
  void Resized(const PtyResized& resized);
  // The process has been reaped: what it had written goes its way, PtyClosed is told, and whoever still has the
  // terminal open is hung up.
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
    UniqueFd slave;  // so that a process that closes its own, and opens it again, has not hung up
    UniqueFd log;
    std::string unlogged;  // read and told, not written down yet
    std::string typed;     // not taken by the terminal yet
    std::size_t granted = kPtyWindow;
    std::uint64_t bytes = 0;
    bool reading = false;
    bool writing = false;
  };

  Pty* Find(ProcessId process, std::uint32_t attempt);
  void AwaitWritten(const Key& key, Pty& pty);
  // One read of at most `most` bytes; how many there were.
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
