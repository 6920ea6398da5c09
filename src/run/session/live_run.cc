#include "run/session/live_run.h"

#include "base/system/clock.h"
#include "run/control/control_server.h"

namespace muster {

Result<void> LiveJournal::Create(int folder, std::uint64_t room) {
  Result<JournalWriter> writer = JournalWriter::Create(folder, room);
  if (!writer) return Fail(std::move(writer.error()));
  writer_ = std::move(*writer);
  return {};
}

void LiveJournal::Record(JournalEntry entry) {
  const std::uint64_t wall = clock_.Wall();
  const MonotonicNs at = clock_.Monotonic();
  if (clients_ != nullptr && clients_->watched()) {
    to_publish_ += JournalLine({writer_->records() + 1, UtcText(wall), at, entry});
  }
  // Written together with other records of this iteration of the loop.
  if (!std::exchange(write_due_, true)) {
    boost::asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) Write();
    });
  }
  if (saw_) saw_(entry);
  writer_->Append(std::move(entry), wall, at);
}

void LiveJournal::Write() {
  if (!std::exchange(write_due_, false)) return;
  writer_->Write();
  // The clients read the journal themselves when they are notified of the end.
  if (const std::string lines = std::exchange(to_publish_, {}); !lines.empty()) clients_->Publish(lines);
  if (writer_->error() == 0 || std::exchange(warned_, true)) return;
  console_.Warn(SystemError("journal", "the journal cannot be written; its records are kept in memory until it can",
                            writer_->error())
                    .message);
}

void LiveJournal::Close(bool sync) {
  Write();
  if (sync) writer_->Sync();
  writer_->Release();  // reports may use the freed disk space
}

}  // namespace muster
