#include "run/metrics/growing_log.h"

#include <string_view>

#include <fcntl.h>

namespace muster {

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
  for (std::size_t read = 0; read < GrowingLines::kMostAtOnce;) {
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

}  // namespace muster
