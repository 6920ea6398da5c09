#include "metrics/growing_file.h"

#include <algorithm>
#include <array>

#include <sys/stat.h>
#include <unistd.h>

namespace muster {

void GrowingFile::Feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const std::size_t end = kind_ == Kind::kLog ? bytes.find_first_of("\r\n") : bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    if (skips_) {
      skips_ = end == bytes.npos;
      continue;
    }
    const std::size_t room = kMaxMetricsLine - line_.size();
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

void GrowingFile::Flush(const Take& take) {
  if (!line_.empty()) take(line_, false);
  line_.clear();
  cut_ = false;
}

void GrowingFile::SkipLine() {
  line_.clear();
  cut_ = false;
  skips_ = true;
}

bool GrowingFile::Open() {
  if (file_ || log_) return true;
  if (kind_ == Kind::kLog) {
    log_ = LogBytes::Open(at_, path_);
    return log_.has_value();
  }
  const std::size_t slash = path_.rfind('/');
  UniqueFd folder;
  if (slash != path_.npos) {
    folder = UniqueFd(::openat(at_, path_.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) return false;
  }
  UniqueFd file(::openat(folder ? folder.get() : at_, path_.c_str() + (folder ? slash + 1 : 0),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  file_ = std::move(file);
  return true;
}

std::uint64_t GrowingFile::End() {
  if (log_) return log_->Look().end;
  struct stat status = {};
  return ::fstat(file_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : offset_;
}

void GrowingFile::RestartIfShorter() {
  if (End() >= offset_) return;
  line_.clear();
  cut_ = skips_ = false;
  offset_ = 0;
}

bool GrowingFile::Read(const Take& take, std::uint64_t most) {
  if (!Open()) return false;
  RestartIfShorter();
  std::array<char, 64U << 10> bytes;
  while (most > 0) {
    const std::uint64_t before = offset_;
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), most));
    const std::size_t got =
        log_ ? log_->Read(offset_, bytes.data(), size) : ReadWritten(file_.get(), offset_, bytes.data(), size);
    if (offset_ != before) SkipLine();  // the line before a gap has no end
    if (got == 0) return false;
    offset_ += got;
    most -= got;
    Feed(std::string_view(bytes.data(), got), take);
  }
  return true;
}

void GrowingFile::ReadToEnd(const Take& take, std::uint64_t most) {
  if (!Open()) return;
  RestartIfShorter();
  SkipToLast(most);
  const std::uint64_t end = End();  // a program that writes faster than this reads does not keep it busy for ever
  if (end > offset_) Read(take, end - offset_);
  file_.reset();
  log_.reset();
}

void GrowingFile::SkipToLast(std::uint64_t size) {
  if (!Open()) return;
  const std::uint64_t end = End();
  if (end < offset_ || end - offset_ <= size) return;
  offset_ = end - size;
  SkipLine();
}

}  // namespace muster
