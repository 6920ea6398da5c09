#include "run/metrics/appended_file.h"

#include <algorithm>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/files/log_bytes.h"

namespace muster {

bool AppendedFile::Read(const GrowingLines::Take& take) {
  if (!file_) {
    UniqueFd file(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status = {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    file_ = std::move(file);
  }
  std::string bytes(std::min<std::size_t>(GrowingLines::kMostAtOnce, 16U << 10), '\0');
  std::size_t read = 0;
  while (read < GrowingLines::kMostAtOnce) {
    const std::uint64_t before = offset_;
    const std::size_t got = ReadWritten(file_.get(), offset_, bytes.data(), bytes.size());
    if (offset_ != before) lines_.Skip();  // the line before a gap has no end
    if (got == 0) break;
    read += got;
    offset_ += got;
    lines_.Feed(std::string_view(bytes.data(), got), take);
  }
  struct stat status = {};
  if (read == 0 && ::fstat(file_.get(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) < offset_) {
    offset_ = 0;
    lines_ = GrowingLines(false);
    return status.st_size > 0;
  }
  return read >= GrowingLines::kMostAtOnce;
}

void AppendedFile::LeaveOut() {
  struct stat status = {};
  if (!file_ || ::fstat(file_.get(), &status) != 0) return;
  offset_ = lines_.SkipToLast(offset_, static_cast<std::uint64_t>(status.st_size));
}

}  // namespace muster
