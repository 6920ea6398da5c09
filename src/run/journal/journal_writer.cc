#include "run/journal/journal_writer.h"

#include <utility>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "run/directory/private_files.h"
#include "wire/files/run_layout.h"

namespace muster {

Result<JournalWriter> JournalWriter::Create(int folder, std::uint64_t room) {
  Result<UniqueFd> file = CreateFile(folder, kJournalEntry.name);
  if (!file) return Fail(std::move(file.error()));
  JournalWriter writer(JournalFile(std::move(*file), 0, room));
  const int error = writer.file_.ReserveSpace();
  if (error == 0) return writer;
  return Fail(SystemError("journal", fmt::format("the disk has no room for {} bytes of the journal", room), error));
}

void JournalWriter::Append(JournalEntry entry, std::uint64_t wall_ns, MonotonicNs at) {
  unwritten_ += JournalLine({++seq_, UtcText(wall_ns), at, std::move(entry)});
}

void JournalWriter::Write() {
  if (!unwritten_.empty()) error_ = file_.Write(unwritten_);
}

void JournalWriter::Sync() {
  if (const int error = file_.Sync(); error != 0) error_ = error;
}

}  // namespace muster
