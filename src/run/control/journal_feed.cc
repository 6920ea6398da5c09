#include "run/control/journal_feed.h"

#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "run/directory/run_directory.h"

namespace muster {

std::optional<JournalRecord> JournalFeed::Next() {
  for (;;) {
    while (!known_.empty()) {
      JournalRecord record = std::move(known_.front());
      known_.pop_front();
      if (record.seq <= seen_) continue;
      seen_ = record.seq;
      if (std::holds_alternative<RunEnded>(record.entry)) {
        over_ = true;
        known_.clear();
      }
      return record;
    }
    if (over_) return std::nullopt;
    if (!head_) {
      Attach();
    } else if (const std::optional<std::string> line = head_->TakeLine()) {
      if (std::optional<JournalRecord> record = ParseJournalLine(*line)) {
        known_.push_back(std::move(*record));
      } else {
        head_.reset();
      }
    } else {
      AwaitLine();
    }
  }
}

// Records written after the answer arrive over the connection, earlier ones are in the file: none is missed.
void JournalFeed::Attach() {
  if (IsRunLive(run_dir_)) {
    Result<ControlConnection> head = ControlConnection::Open(run_dir_);
    if (head && head->Ask({ControlRequest::Ask::kWatch, false})) {
      head_ = std::move(*head);
      return ReadFile();
    }
    AwaitRunOver(run_dir_);
  }
  ReadFile();
  over_ = true;
}

void JournalFeed::ReadFile() {
  ReadJournal(run_dir_ + "/journal.jsonl", [this](JournalRecord record) {
    if (record.seq > seen_) known_.push_back(std::move(record));
    return true;
  });
}

void JournalFeed::AwaitLine() {
  // A copy of the descriptor, because the loop closes its own.
  boost::asio::posix::stream_descriptor readable(io_, ::fcntl(head_->fd(), F_DUPFD_CLOEXEC, 0));
  bool ready = false;
  readable.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [&ready](const boost::system::error_code&) { ready = true; });
  io_.restart();
  while (!ready && io_.run_one() > 0) {
  }
  if (!head_->Receive()) head_.reset();
}

}  // namespace muster
