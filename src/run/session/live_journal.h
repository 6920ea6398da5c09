// The journal of a run that goes on: its records reach the disk before the commands that follow from them, and then
// the clients that watch the run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "run/journal/journal.h"
#include "run/journal/journal_writer.h"

namespace muster {

class Console;
class ControlServer;
class RunClock;

class LiveJournal {
 public:
  // All must outlive it.
  LiveJournal(boost::asio::io_context& io, const RunClock& clock, Console& console)
      : io_(io), clock_(clock), console_(console) {}

  // As JournalWriter::Create does. Nothing may be recorded before.
  Result<void> Create(int folder, std::uint64_t room);
  // Written by Write(), which is called before the next command to an agent, and at the end of this turn of the loop at
  // the latest.
  void Record(JournalEntry entry);
  void Write();
  // After the last record: writes, and waits for the disk if `sync`.
  void Close(bool sync);
  // The clients of this server get each line once it is written. It must outlive all records.
  void PublishTo(ControlServer& clients) { clients_ = &clients; }

  std::uint64_t records() const { return writer_->records(); }
  // Whether everything that was to be written is.
  bool complete() const { return writer_->error() == 0; }

 private:
  boost::asio::io_context& io_;
  const RunClock& clock_;
  Console& console_;
  std::optional<JournalWriter> writer_;
  ControlServer* clients_ = nullptr;
  bool write_due_ = false;
  std::string to_publish_;  // lines for the clients, once they are written
  bool warned_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for a handler that is still on its way
};

}  // namespace muster
