#include "run/journal/journal_writer.h"

#include <cstddef>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "run/directory/private_files.h"

namespace muster {

Result<JournalWriter> JournalWriter::Create(int folder, std::uint64_t room) {
  Result<UniqueFd> file = CreateFile(folder, "journal.jsonl", O_APPEND);
  if (!file) return Fail(std::move(file.error()));
  JournalWriter writer;
  writer.file_ = std::move(*file);
  writer.room_ = ReservedRoom(room);
  const int error = writer.room_.Keep(writer.file_.get(), 0);
  if (error == 0) return writer;
  return Fail(SystemError("journal", fmt::format("the disk has no room for {} bytes of the journal", room), error));
}

JournalWriter::~JournalWriter() { Release(); }

void JournalWriter::Release() {
  if (file_) room_.Release(file_.get());
}

void JournalWriter::Append(JournalEntry entry, std::uint64_t wall_ns, MonotonicNs at) {
  unwritten_ += JournalLine({++seq_, UtcText(wall_ns), at, std::move(entry)});
}

void JournalWriter::Write() {
  if (unwritten_.empty()) return;
  error_ = FailsHere(Fault::kHeadBeforeJournal) ? EIO : 0;
  if (error_ != 0) return;
  while (!unwritten_.empty()) {
    const ssize_t wrote = ::write(file_.get(), unwritten_.data(), unwritten_.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      error_ = errno;
      return;
    }
    unwritten_.erase(0, static_cast<std::size_t>(wrote));
    written_ += static_cast<std::uint64_t>(wrote);
  }
  // Without more of it what was kept is used up.
  room_.Keep(file_.get(), written_);
}

void JournalWriter::Sync() {
  if (::fdatasync(file_.get()) != 0) error_ = errno;
}

}  // namespace muster
