#include "top/load_meter.h"

#include <array>
#include <string>
#include <utility>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"

namespace muster {
namespace {

double SecondsSinceBoot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

LoadMeter::LoadMeter()
    : ticks_per_second_(static_cast<double>(::sysconf(_SC_CLK_TCK))),
      page_kib_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024) {}

void LoadMeter::Next() {
  before_ = std::exchange(seen_, {});
  uptime_ = SecondsSinceBoot();
  now_ns_ = MonotonicNowNs();
}

std::optional<Load> LoadMeter::Of(std::int32_t pid, std::uint64_t start_ticks) {
  const UniqueFd file(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text;
  const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (got <= 0) return std::nullopt;
  const auto stat = ParseProcStat({text.data(), static_cast<std::size_t>(got)});
  if (!stat || stat->start_ticks != start_ticks) return std::nullopt;
  seen_[pid] = {start_ticks, stat->cpu_ticks, now_ns_};
  double seconds = uptime_ - static_cast<double>(start_ticks) / ticks_per_second_;
  std::uint64_t ticks = stat->cpu_ticks;
  const auto before = before_.find(pid);
  if (before != before_.end() && before->second.start_ticks == start_ticks && ticks >= before->second.cpu_ticks) {
    ticks -= before->second.cpu_ticks;
    seconds = static_cast<double>(now_ns_ - before->second.at_ns) / 1e9;
  }
  // Times are counted in ticks: intervals below one tick give no value.
  Load load;
  if (seconds * ticks_per_second_ >= 1) {
    load.cpu_percent = 100 * static_cast<double>(ticks) / (seconds * ticks_per_second_);
  }
  load.memory_kib = stat->rss_pages * page_kib_;
  return load;
}

}  // namespace muster
