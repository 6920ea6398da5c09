// Reads a run's journal as a stream: the records written so far, then new ones, until the run is over.
//
// Uses the journal's file and the control socket, and copes without either: a connection that ends is opened again
// while a head holds the run directory. Without one, as for a head on another host, the file is read again and again:
// no kernel reports what another host writes into a shared file system.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "run/control/control_connection.h"
#include "run/journal/journal.h"

namespace muster {

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
