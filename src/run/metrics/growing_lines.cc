#include "run/metrics/growing_lines.h"

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
    const std::size_t room = kLongestLine - line_.size();
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
  if (end < offset || end - offset <= kMostAtOnce) return offset;
  Skip();
  return end - kMostAtOnce;
}

}  // namespace muster
