#include "transport/clock_offset.h"

#include <algorithm>
#include <cstdlib>

namespace muster {

void ClockOffset::Add(std::uint64_t sent, std::uint64_t answered, std::uint64_t back) {
  if (back < sent) return;
  const std::uint64_t error = (back - sent) / 2;
  latest_.push_back({static_cast<std::int64_t>(answered - (sent + error)), error});
  if (latest_.size() > kLatest) latest_.pop_front();
}

std::optional<ClockEstimate> ClockOffset::best() const {
  const auto least =
      std::min_element(latest_.begin(), latest_.end(),
                       [](const ClockEstimate& a, const ClockEstimate& b) { return a.error_ns < b.error_ns; });
  return least == latest_.end() ? std::nullopt : std::optional(*least);
}

bool ClockOffset::Better() {
  const std::optional<ClockEstimate> now = best();
  if (!now) return false;
  if (reported_) {
    const auto apart = static_cast<std::uint64_t>(std::abs(now->offset_ns - reported_->offset_ns));
    if (now->error_ns > reported_->error_ns / 2 && apart <= now->error_ns + reported_->error_ns) return false;
  }
  reported_ = now;
  return true;
}

}  // namespace muster
