#include "sweep/record/sweep_journal.h"

#include <string>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/values/shell_quote.h"
#include "run/directory/private_files.h"
#include "run/journal/journal_line.h"
#include "run/journal/journal_lines.h"

namespace muster {
namespace {

constexpr char kName[] = "journal.jsonl";
// For the ends of all that runs when the disk is full, and the sweep's own.
constexpr std::uint64_t kRoom = 256U << 10;

// Why a line is no record.
std::string WhyNone(std::string_view line) {
  if (const auto body = OpenLine(line); !body) return body.error();
  return "an entry is not known, or lacks a field";
}

}  // namespace

JournalPosition ReadSweepJournal(int folder, JournalPosition from, const std::function<void(SweepRecord)>& take,
                                 std::string& stopped) {
  stopped.clear();
  const UniqueFd file = OpenJournal(folder, kName);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    stopped = "the journal cannot be opened";
    return from;
  }
  if (static_cast<std::uint64_t>(status.st_size) < from.bytes) {
    stopped = "the journal is shorter than what was read of it";
    return from;
  }
  JournalLines lines(file.get(), from.bytes);
  while (const std::optional<std::string_view> line = lines.Next()) {
    std::optional<SweepRecord> record = ParseSweepJournalLine(*line);
    if (!record || record->seq != from.seq + 1) {
      stopped = record ? "a record is missing" : WhyNone(*line);
      return from;
    }
    from.seq = record->seq;
    from.bytes += line->size() + 1;
    take(std::move(*record));
  }
  stopped = lines.stopped();
  return from;
}

SweepJournalWriter::SweepJournalWriter(UniqueFd file, JournalPosition position)
    : file_(std::move(file)), room_(kRoom), position_(position) {}

SweepJournalWriter::~SweepJournalWriter() {
  if (file_) room_.Release(file_.get());
}

Result<SweepJournalWriter> SweepJournalWriter::Begin(UniqueFd file, JournalPosition position) {
  SweepJournalWriter writer(std::move(file), position);
  const int error = writer.room_.Keep(writer.file_.get(), position.bytes);
  if (error == 0) return writer;
  return Fail(SystemError("sweep_journal",
                          fmt::format("the disk has no room for {} bytes of the sweep's journal", kRoom), error));
}

Result<SweepJournalWriter> SweepJournalWriter::Create(int folder) {
  Result<UniqueFd> file = CreateFile(folder, kName);
  if (!file) return Fail(std::move(file.error()));
  return Begin(std::move(*file), {});
}

Result<SweepJournalWriter> SweepJournalWriter::Continue(int folder, JournalPosition end) {
  UniqueFd file(::openat(folder, kName, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return Fail(SystemError("sweep_journal", "the sweep's journal cannot be opened for writing", errno));
  }
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) < end.bytes) {
    return Fail(MachineError("sweep_journal", "the sweep's journal is shorter than what was read of it",
                             "another process writes to the sweep's journal"));
  }
  if (::ftruncate(file.get(), static_cast<off_t>(end.bytes)) != 0) {
    return Fail(
        SystemError("sweep_journal", "what is broken at the end of the sweep's journal cannot be cut off", errno));
  }
  return Begin(std::move(file), end);
}

int SweepJournalWriter::Append(SweepEntry entry, std::uint64_t wall_ns) {
  if (FailsHere(Fault::kHeadBeforeJournal)) return EIO;
  const std::string line = SweepJournalLine({position_.seq + 1, UtcText(wall_ns), std::move(entry)});
  // At a place of its own, not at the end of the file: should a half line not be cut off, the next one goes over it.
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t wrote =
        ::pwrite(file_.get(), line.data() + done, line.size() - done, static_cast<off_t>(position_.bytes + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int error = wrote == 0 ? ENOSPC : errno;
      if (::ftruncate(file_.get(), static_cast<off_t>(position_.bytes)) != 0) return error;
      return error;
    }
    done += static_cast<std::size_t>(wrote);
  }
  position_.bytes += line.size();
  ++position_.seq;
  room_.Keep(file_.get(), position_.bytes);  // without more of it what was kept is used up
  synced_ = false;
  return 0;
}

int SweepJournalWriter::Sync() {
  if (::fdatasync(file_.get()) != 0) return errno;
  synced_ = true;
  return 0;
}

}  // namespace muster
