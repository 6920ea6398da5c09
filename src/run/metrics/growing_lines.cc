#include "run/metrics/growing_lines.h"

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {

void GrowingLines::Feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of(ends_);
    const std::string_view piece = bytes.substr(0, end);
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    if (skips_) {
      skips_ = end == bytes.npos;
      continue;
    }
    const std::size_t room = kMaxLine - line_.size();
    cut_ = cut_ || piece.size() > room;
    if (end != bytes.npos && line_.empty()) {  // the common case: no buffering
      if (!piece.empty()) take(piece.substr(0, room), !cut_);
      cut_ = false;
      continue;
    }
    line_.append(piece.substr(0, room));
    if (end == bytes.npos) continue;
    take(line_, !cut_);
    line_.clear();
    cut_ = false;
  }
}

void GrowingLines::Flush(const Take& take) {
  if (!line_.empty()) take(line_, false);
  line_.clear();
  cut_ = false;
}

void GrowingLines::Skip() {
  line_.clear();
  cut_ = false;
  skips_ = true;
}

std::uint64_t GrowingLines::SkipToLast(std::uint64_t offset, std::uint64_t end) {
  if (end < offset || end - offset <= kMaxAtOnce) return offset;
  Skip();
  return end - kMaxAtOnce;
}

void GrowingLog::LeaveOut() {
  if (log_) offset_ = lines_.SkipToLast(offset_, log_->Look().end);
}

bool GrowingLog::Read(const GrowingLines::Take& take) {
  if (!log_) log_ = LogBytes::Open(AT_FDCWD, path_);
  if (!log_) return false;
  if (log_->Look().end < offset_) {  // the file was truncated
    offset_ = 0;
    lines_ = GrowingLines(true);
  }
  std::string bytes(64U << 10, '\0');
  for (std::size_t read = 0; read < GrowingLines::kMaxAtOnce;) {
    const std::uint64_t before = offset_;
    const std::size_t got = log_->Read(offset_, bytes.data(), bytes.size());
    if (offset_ != before) lines_.Skip();
    if (got == 0) return false;
    offset_ += got;
    read += got;
    lines_.Feed(std::string_view(bytes.data(), got), take);
  }
  return true;
}

bool AppendedFile::Read(const GrowingLines::Take& take) {
  if (!file_) {
    UniqueFd file(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status = {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    file_ = std::move(file);
  }
  std::string bytes(std::min<std::size_t>(GrowingLines::kMaxAtOnce, 16U << 10), '\0');
  std::size_t read = 0;
  while (read < GrowingLines::kMaxAtOnce) {
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
  return read >= GrowingLines::kMaxAtOnce;
}

void AppendedFile::LeaveOut() {
  struct stat status = {};
  if (!file_ || ::fstat(file_.get(), &status) != 0) return;
  offset_ = lines_.SkipToLast(offset_, static_cast<std::uint64_t>(status.st_size));
}

}  // namespace muster
