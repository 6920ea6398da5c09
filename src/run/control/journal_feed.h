// A run of another muster process, followed by its journal: the records written so far and then new ones, until the
// run is over, or only its end. Uses the journal's file, inotify(7) and the control socket, and works without the
// last two, as for a head on another host: then the file is read again and again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "muster/result.h"
#include "run/control/control_protocol.h"
#include "run/journal/journal.h"

namespace muster {

// Waits for the end of a run of another muster process, notified by inotify(7). For a head on another host, whose
// writes are not reported, it looks at the journal once a second.
//
// Uses the journal as a file that only the head writes: it is complete with its record run_ended, and when the writer
// closes it, the head has ended in whatever way. Reads no other record.
class RunEndWatch {
 public:
  explicit RunEndWatch(boost::asio::io_context& io) : changes_(io), looks_(io) {}

  // Calls `ended` once, from the loop: immediately if no head is active. Fails with kind "inotify".
  Result<void> Start(const std::string& run_dir, std::function<void()> ended);
  // Prevents further calls of `ended`.
  void Stop();

 private:
  void Await();
  void LookLater();
  bool JournalIsComplete() const;
  void Ended();

  boost::asio::posix::stream_descriptor changes_;
  boost::asio::steady_timer looks_;
  std::string run_dir_;
  std::string journal_;
  std::function<void()> ended_;
};

// Reads a run's journal as a stream: the records written so far, then new ones, until the run is over.
//
// Uses the journal's file and the control socket, and copes without either: a connection that ends is opened again
// while a head holds the run directory. Without one, as for a head on another host, the file is read again and again:
// no kernel reports what another host writes into a shared file system.
class JournalFeed {
 public:
  JournalFeed(boost::asio::io_context& io, std::string run_dir) : io_(io), run_dir_(std::move(run_dir)) {}

  // The next record, each exactly once, from the first one on. Runs the loop until there is one. Empty after run_ended,
  // or when the head has gone without it.
  std::optional<JournalRecord> Next();

  // There is no head any more, whatever the lock of the run directory says: the rest is what the file has. Call it from
  // the loop.
  void GiveUp();

 private:
  void Attach();
  // The complete lines behind those that were read.
  void ReadFile();
  void AwaitLine();
  void AwaitFile();

  boost::asio::io_context& io_;
  std::string run_dir_;
  std::optional<ControlConnection> head_;
  std::deque<JournalRecord> known_;
  std::uint64_t seen_ = 0;
  std::uint64_t read_to_ = 0;  // of the file
  bool elsewhere_ = false;     // the head cannot be connected to
  bool given_up_ = false;
  bool over_ = false;
};

}  // namespace muster
