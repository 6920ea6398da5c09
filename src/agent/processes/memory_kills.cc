#include "agent/processes/memory_kills.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace muster {
namespace {

constexpr std::size_t kMaxRecords = 100'000;  // more than any kernel's buffer holds

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class N>
std::optional<N> NumberAt(std::string_view text) {
  N number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

MemoryCounterFile MemoryCounterFileOf(std::string_view proc_self_cgroup) {
  MemoryCounterFile file;
  while (!proc_self_cgroup.empty()) {
    const std::size_t newline = proc_self_cgroup.find('\n');
    const std::string_view line = proc_self_cgroup.substr(0, newline);
    proc_self_cgroup.remove_prefix(newline == std::string_view::npos ? proc_self_cgroup.size() : newline + 1);
    // "0::/user.slice" of v2, "4:memory:/job" of v1; with both, v1 has the controller.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    if (path == "/") path.clear();
    if (controllers.empty() && file.path.empty()) {
      file = {"/sys/fs/cgroup" + path + "/memory.events", "/sys/fs/cgroup/memory.events"};
    } else if ((',' + std::string(controllers) + ',').find(",memory,") != std::string::npos) {
      return {"/sys/fs/cgroup/memory" + path + "/memory.oom_control", "/sys/fs/cgroup/memory/memory.oom_control"};
    }
  }
  return file;
}

std::optional<std::uint64_t> MemoryKillsIn(std::string_view events) {
  constexpr std::string_view kWord = "oom_kill ";
  for (std::size_t at = events.find(kWord); at != std::string_view::npos; at = events.find(kWord, at + 1)) {
    if (at == 0 || events[at - 1] == '\n') return NumberAt<std::uint64_t>(events.substr(at + kWord.size()));
  }
  return std::nullopt;
}

std::optional<MemoryKillRecord> MemoryKillIn(std::string_view record) {
  // "3,1234,567890,-;Memory cgroup out of memory: Killed process 4711 (python3) total-vm:…": Documentation/ABI/
  // testing/dev-kmsg of the kernel.
  constexpr std::string_view kKilled = "Killed process ";
  const std::size_t semicolon = record.find(';');
  if (semicolon == std::string_view::npos) return std::nullopt;
  std::string_view words = record.substr(semicolon + 1);
  words = words.substr(0, words.find('\n'));
  const std::size_t killed = words.find(kKilled);
  if (killed == std::string_view::npos) return std::nullopt;
  const auto pid = NumberAt<pid_t>(words.substr(killed + kKilled.size()));
  std::string_view head = record.substr(0, semicolon);
  for (int comma = 0; comma < 2; ++comma) {
    const std::size_t at = head.find(',');
    if (at == std::string_view::npos) return std::nullopt;
    head.remove_prefix(at + 1);
  }
  const auto at_us = NumberAt<std::uint64_t>(head);
  if (!pid || !at_us) return std::nullopt;
  return MemoryKillRecord{*pid, *at_us, std::string(words)};
}

MemoryKills::MemoryKills() {
  const MemoryCounterFile file = MemoryCounterFileOf(ContentOf("/proc/self/cgroup"));
  for (const std::string& path : {file.path, file.fallback}) {
    counter_file_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!ReadCounter()) continue;
    counter_ = path;
    break;
  }
  CountFromNow();
}

void MemoryKills::CountFromNow() { accounted_ = ReadCounter().value_or(0); }

std::optional<std::uint64_t> MemoryKills::ReadCounter() const {
  std::array<char, 4'096> events;  // a few short lines
  const ssize_t got = counter_file_ ? ::pread(counter_file_.get(), events.data(), events.size(), 0) : -1;
  return got <= 0 ? std::nullopt : MemoryKillsIn({events.data(), static_cast<std::size_t>(got)});
}

void MemoryKills::ReadLog() {
  if (!std::exchange(log_tried_, true)) {
    log_ = UniqueFd(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  }
  if (!log_) return;
  std::array<char, 8'192> record;  // longest record of the kernel
  for (std::size_t records = 0; records < kMaxRecords; ++records) {
    const ssize_t got = ::read(log_.get(), record.data(), record.size());
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;  // EPIPE: records were overwritten in the meantime
    if (got <= 0) return;
    if (auto killed = MemoryKillIn({record.data(), static_cast<std::size_t>(got)})) {
      logged_.insert_or_assign(killed->pid, std::move(*killed));
    }
  }
}

std::string MemoryKills::Of(pid_t pid, MonotonicNs started) {
  std::string phrase;
  const std::optional<std::uint64_t> count = ReadCounter();
  if (count && *count > accounted_) {
    phrase = fmt::format("{} counts {} processes killed for lack of memory, {} when muster last looked", counter_,
                         *count, accounted_);
    ++accounted_;
  }
  ReadLog();
  // An older process may have had the same pid. The log's clock and the monotonic one differ by less than a second.
  const auto logged = logged_.find(pid);
  if (logged != logged_.end() && logged->second.at_us + 1'000'000 >= started / 1'000) {
    phrase += fmt::format("{}the kernel's log: {}", phrase.empty() ? "" : "; ", logged->second.words);
  }
  return phrase;
}

}  // namespace muster
