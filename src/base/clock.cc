#include "base/clock.h"

#include <ctime>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

std::uint64_t Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t MonotonicNowNs() { return Now(CLOCK_MONOTONIC); }
std::uint64_t WallNowNs() { return Now(CLOCK_REALTIME); }

std::string UtcText(std::uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / kNsPerSecond);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, wall_ns % kNsPerSecond / 1000);
}

std::string StampText(std::uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / kNsPerSecond);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace muster
