#include "run/journal/event_order.h"

#include <algorithm>

namespace muster {
namespace {

struct Interval {
  std::int64_t earliest = 0;
  std::int64_t latest = 0;
};

// On the head's clock, or on the host's own if both moments are on the same host.
Interval IntervalOf(const Moment& moment, const HostClock& clock) {
  const auto at = static_cast<std::int64_t>(moment.at) + clock.offset_ns;
  const auto error = static_cast<std::int64_t>(clock.error_ns);
  return {at - error - static_cast<std::int64_t>(moment.late_ns), at + error};
}

const HostClock* ClockOf(std::uint32_t host, const HostClocks& clocks) {
  return host < clocks.size() && clocks[host] ? &*clocks[host] : nullptr;
}

}  // namespace

Order OrderOf(const Moment& a, const Moment& b, const HostClocks& clocks) {
  const HostClock own;
  const HostClock* of_a = a.host == b.host ? &own : ClockOf(a.host, clocks);
  const HostClock* of_b = a.host == b.host ? &own : ClockOf(b.host, clocks);
  if (of_a == nullptr || of_b == nullptr) return Order::kUnknown;
  const Interval first = IntervalOf(a, *of_a);
  const Interval second = IntervalOf(b, *of_b);
  if (first.latest < second.earliest) return Order::kBefore;
  if (second.latest < first.earliest) return Order::kAfter;
  return Order::kUnknown;
}

std::optional<MonotonicNs> OnHead(const Moment& moment, const HostClocks& clocks) {
  const HostClock* clock = ClockOf(moment.host, clocks);
  if (clock == nullptr) return std::nullopt;
  const auto at = static_cast<std::int64_t>(moment.at) + clock->offset_ns;
  return static_cast<MonotonicNs>(at > 0 ? at : 0);
}

std::uint64_t EndLatenessNs(std::uint64_t max_rss_kib) {
  constexpr std::uint64_t kAlways = 1'000'000;
  constexpr std::uint64_t kPerKib = 477;                  // half a second for 2^20 KiB
  constexpr std::uint64_t kMax = std::uint64_t{1} << 40;  // no machine has this much, but a journal may claim it
  return kAlways + std::min(max_rss_kib, kMax) * kPerKib;
}

}  // namespace muster
