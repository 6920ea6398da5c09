// A run's journal as a stream: what has been written, then what is being written, until the run is over.
//
// Knows the journal's file and the control socket, and that either may be missing: a connection that ends is
// made again while somebody holds the run, and without one the rest is read from the file once nobody does.
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

  // The next record, from the first one on, each once. Runs the loop until there is one. Nothing after run_ended,
  // or when the head is gone without it.
  std::optional<JournalRecord> Next();

 private:
  void Attach();
  void ReadFile();
  void AwaitLine();

  boost::asio::io_context& io_;
  std::string run_dir_;
  std::optional<ControlConnection> head_;
  std::deque<JournalRecord> known_;
  std::uint64_t seen_ = 0;
  bool over_ = false;
};

}  // namespace muster
