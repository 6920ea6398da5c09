// The journal of an active run: records are written to the disk before the commands that follow from them, and then
// sent to the clients that watch the run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "run/journal/journal.h"

namespace muster {

class Console;
class ControlServer;
class RunClock;

class LiveJournal {
 public:
  // All must outlive it.
  LiveJournal(boost::asio::io_context& io, const RunClock& clock, Console& console)
      : io_(io), clock_(clock), console_(console) {}

  // Creates the journal as JournalWriter::Create does; must be called before Record().
  Result<void> Create(int folder, std::uint64_t room);
  // Adds a record. Write(), which is called before the next command to an agent, writes it, at the latest at the end of
  // this iteration of the loop.
  void Record(JournalEntry entry);
  void Write();
  // Called after the last record: writes, and syncs to disk if `sync`.
  void Close(bool sync);
  // Called with each record, before the commands that follow from it.
  void Observe(std::function<void(const JournalEntry&)> saw) { saw_ = std::move(saw); }
  // Sends each written line to the clients of this server, which must outlive all records.
  void PublishTo(ControlServer& clients) { clients_ = &clients; }

  std::uint64_t records() const { return writer_->records(); }
  // Whether all records were written.
  bool complete() const { return writer_->error() == 0; }

 private:
  boost::asio::io_context& io_;
  const RunClock& clock_;
  Console& console_;
  std::optional<JournalWriter> writer_;
  ControlServer* clients_ = nullptr;
  std::function<void(const JournalEntry&)> saw_;
  bool write_due_ = false;
  std::string to_publish_;  // lines for the clients, sent after they are written
  bool warned_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that are still queued
};

}  // namespace muster
