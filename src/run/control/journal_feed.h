// Reads a run's journal as a stream: the records written so far, then new ones, until the run is over.
//
// Uses the journal's file and the control socket, and copes without either: a connection that ends is opened again
// while a head holds the run directory; without one, the rest is read from the file once no head does.
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
