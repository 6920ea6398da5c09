#include "base/system/clock.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr int kBeyond = 2550 - 1900;  // 64 bits of nanoseconds reach into 2554

std::uint64_t Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t MonotonicNowNs() { return Now(CLOCK_MONOTONIC); }
std::uint64_t WallNowNs() { return Now(CLOCK_REALTIME); }

// Formatted by hand for speed: every line of a journal has a time.
std::string UtcText(std::uint64_t wall_ns) {
  const std::chrono::sys_seconds time{std::chrono::seconds(wall_ns / kNsPerSecond)};
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(time));
  const auto seconds = static_cast<unsigned>(wall_ns / kNsPerSecond % 86'400);
  std::string text = "0000-00-00T00:00:00.000000Z";
  const auto put = [&](std::size_t end, std::size_t digits, unsigned number) {
    for (; digits > 0; --digits, number /= 10) text[--end] = static_cast<char>('0' + number % 10);
  };
  put(4, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  put(7, 2, static_cast<unsigned>(date.month()));
  put(10, 2, static_cast<unsigned>(date.day()));
  put(13, 2, seconds / 3'600);
  put(16, 2, seconds / 60 % 60);
  put(19, 2, seconds % 60);
  put(26, 6, static_cast<unsigned>(wall_ns % kNsPerSecond / 1'000));
  return text;
}

std::optional<std::uint64_t> ParseUtc(std::string_view text) {
  bool whole = true;
  // Parses that many digits as a number.
  const auto digits = [&](std::size_t count) {
    int number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const char digit = i < text.size() ? text[i] : 'x';
      if (digit < '0' || digit > '9') whole = false;
      if (whole) number = number * 10 + (digit - '0');
    }
    text.remove_prefix(std::min(count, text.size()));
    return number;
  };
  const auto take = [&](std::string_view one_of) {
    const bool taken = !text.empty() && one_of.find(text.front()) != std::string_view::npos;
    if (taken) text.remove_prefix(1);
    return taken;
  };
  std::tm parts{};
  parts.tm_year = digits(4) - 1900;
  whole = take("-") && whole;
  parts.tm_mon = digits(2) - 1;
  whole = take("-") && whole;
  parts.tm_mday = digits(2);
  whole = take("T ") && whole;
  parts.tm_hour = digits(2);
  whole = take(":") && whole;
  parts.tm_min = digits(2);
  std::uint64_t fraction = 0;
  if (take(":")) {
    parts.tm_sec = digits(2);
    if (take(".")) {
      std::uint64_t unit = kNsPerSecond / 10;
      if (text.empty() || text.front() < '0' || text.front() > '9') whole = false;
      for (; !text.empty() && text.front() >= '0' && text.front() <= '9' && unit > 0; unit /= 10) {
        fraction += unit * static_cast<std::uint64_t>(digits(1));
      }
    }
  }
  take("Z");
  if (!whole || !text.empty() || parts.tm_year < 70) return std::nullopt;
  const std::tm asked = parts;
  const std::time_t seconds = timegm(&parts);
  // timegm accepts February 31 and turns it into a day in March, so compare the fields.
  if (asked.tm_mon != parts.tm_mon || asked.tm_mday != parts.tm_mday || asked.tm_hour != parts.tm_hour ||
      asked.tm_min != parts.tm_min || asked.tm_sec != parts.tm_sec || seconds < 0 || parts.tm_year >= kBeyond) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(seconds) * kNsPerSecond + fraction;
}

std::string StampText(std::uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / kNsPerSecond);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace muster
