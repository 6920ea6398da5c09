#include "run/lines/journal_file.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include <errno.h>
#include <unistd.h>

#include "base/system/fault.h"

namespace muster {

JournalFile::JournalFile(UniqueFd file, std::uint64_t bytes, std::uint64_t room)
    : file_(std::move(file)), room_(room), bytes_(bytes) {}

JournalFile::~JournalFile() { Release(); }

void JournalFile::Release() {
  if (file_) room_.Release(file_.get());
}

int JournalFile::ReserveSpace() { return room_.Keep(file_.get(), bytes_); }

int JournalFile::Write(std::string& lines) {
  if (FailsHere(Fault::kHeadBeforeJournal)) return EIO;
  int error = 0;
  std::size_t done = 0;
  // Written at an explicit offset, not at the end of the file: if a partial line could not be cut off, the next line
  // overwrites it.
  while (done < lines.size() && error == 0) {
    const ssize_t wrote =
        ::pwrite(file_.get(), lines.data() + done, lines.size() - done, static_cast<off_t>(bytes_ + done));
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
    if (wrote == 0) error = ENOSPC;
    if (wrote < 0 && errno != EINTR) error = errno;
  }
  const std::size_t whole = std::string_view(lines).substr(0, done).rfind('\n') + 1;  // npos + 1 is 0
  lines.erase(0, whole);
  bytes_ += whole;
  if (error == 0) {
    room_.Keep(file_.get(), bytes_);  // if this fails, the space that is still reserved is used up
  } else if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) {
    return error;
  }
  return error;
}

int JournalFile::Sync() { return ::fdatasync(file_.get()) == 0 ? 0 : errno; }

}  // namespace muster
