#include "sweep/sweep_journal.h"

#include <algorithm>
#include <string>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/shell_quote.h"
#include "run/journal_line.h"
#include "run/private_files.h"

namespace muster {
namespace {

constexpr char kName[] = "journal.jsonl";
constexpr std::size_t kChunk = 1U << 20;
constexpr std::size_t kLongestLine = 256U << 20;

// Why a line is no record.
std::string WhyNone(std::string_view line) {
  if (const auto body = OpenLine(line); !body) return body.error();
  return "an entry is not known, or lacks a field";
}

UniqueFd OpenJournal(int folder, int flags) {
  return UniqueFd(::openat(folder, kName, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace

JournalPosition ReadSweepJournal(int folder, JournalPosition from, const std::function<void(SweepRecord)>& take,
                                 std::string& stopped) {
  stopped.clear();
  const UniqueFd file = OpenJournal(folder, O_RDONLY);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    stopped = "the journal cannot be opened";
    return from;
  }
  if (static_cast<std::uint64_t>(status.st_size) < from.bytes) {
    stopped = "the journal is shorter than what was read of it";
    return from;
  }
  std::string buffer;  // from `from.bytes + done` on
  std::size_t done = 0;
  std::size_t searched = 0;  // no newline before it
  for (;;) {
    const std::size_t end = buffer.find('\n', std::max(done, searched));
    if (end != std::string::npos) {
      const std::string_view line = std::string_view(buffer).substr(done, end - done);
      std::optional<SweepRecord> record = ParseSweepJournalLine(line);
      if (!record || record->seq != from.seq + 1) {
        stopped = record ? "a record is missing" : WhyNone(line);
        return from;
      }
      from.seq = record->seq;
      from.bytes += line.size() + 1;
      done = end + 1;
      take(std::move(*record));
      continue;
    }
    const std::size_t held = buffer.size() - done;
    if (held > kLongestLine) {
      stopped = "a line is too long";
      return from;
    }
    buffer.erase(0, done);
    done = 0;
    searched = held;
    // Longer lines are read in ever larger steps; of a short file no more than there is, and its end.
    const std::uint64_t left = static_cast<std::uint64_t>(status.st_size) -
                               std::min<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), from.bytes + held);
    buffer.resize(held + std::min<std::uint64_t>(std::max(kChunk, held), left + 1));
    ssize_t got = 0;
    do got = ::pread(file.get(), buffer.data() + held, buffer.size() - held, static_cast<off_t>(from.bytes + held));
    while (got < 0 && errno == EINTR);
    buffer.resize(held + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got > 0) continue;
    if (got < 0) {
      stopped = "the journal cannot be read";
    } else if (held > 0) {
      stopped = "the last line is cut";
    }
    return from;
  }
}

SweepJournalWriter::SweepJournalWriter(UniqueFd file, JournalPosition position)
    : file_(std::move(file)), position_(position) {}

Result<SweepJournalWriter> SweepJournalWriter::Create(int folder) {
  Result<UniqueFd> file = CreateFile(folder, kName);
  if (!file) return Fail(std::move(file.error()));
  return SweepJournalWriter(std::move(*file), {});
}

Result<SweepJournalWriter> SweepJournalWriter::Continue(int folder, JournalPosition end) {
  UniqueFd file = OpenJournal(folder, O_WRONLY);
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return Fail(SystemError("sweep_journal", "the sweep's journal cannot be opened for writing", errno));
  }
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) < end.bytes) {
    return Fail(MachineError("sweep_journal", "the sweep's journal is shorter than what was read of it",
                             "somebody else is writing in the sweep's folder"));
  }
  if (::ftruncate(file.get(), static_cast<off_t>(end.bytes)) != 0) {
    return Fail(
        SystemError("sweep_journal", "what is broken at the end of the sweep's journal cannot be cut off", errno));
  }
  return SweepJournalWriter(std::move(file), end);
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
  synced_ = false;
  return 0;
}

int SweepJournalWriter::Sync() {
  if (::fdatasync(file_.get()) != 0) return errno;
  synced_ = true;
  return 0;
}

}  // namespace muster
