#include "agent/processes/exit_inspector.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "base/system/kernel_file.h"
#include "base/values/abnormal_exit.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

constexpr std::size_t kMaxRecords = 100'000;  // more than any kernel's buffer holds

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
  const MemoryCounterFile file = MemoryCounterFileOf(KernelText("/proc/self/cgroup"));
  for (const std::string& path : {file.path, file.fallback}) {
    counter_file_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!ReadCounter()) continue;
    counter_ = path;
    break;
  }
  CountFromNow();
}

void MemoryKills::CountFromNow() { attributed_ = ReadCounter().value_or(0); }

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
  if (count && *count > attributed_) {
    phrase = fmt::format("{} counts {} processes killed for lack of memory, {} when muster last looked", counter_,
                         *count, attributed_);
    ++attributed_;
  }
  ReadLog();
  // An older process may have had the same pid. The log's clock and the monotonic one differ by less than a second.
  const auto logged = logged_.find(pid);
  if (logged != logged_.end() && logged->second.at_us + 1'000'000 >= started / 1'000) {
    phrase += fmt::format("{}the kernel's log: {}", phrase.empty() ? "" : "; ", logged->second.words);
  }
  return phrase;
}

namespace {

// The text escaped for glob(3), so that it matches itself.
std::string GlobEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

CorePlace CorePlaceOf(std::string_view pattern, bool uses_pid, const Dumped& dumped) {
  while (pattern.ends_with('\n')) pattern.remove_suffix(1);
  if (pattern.empty()) return {};
  if (pattern.front() == '|') return {CorePlace::Kind::kProgram, std::string(pattern.substr(1, pattern.find(' ') - 1))};

  std::string path;
  std::string glob;
  bool known = true;
  bool names_pid = false;
  const auto add = [&](const std::string& text) {
    path += text;
    glob += GlobEscaped(text);
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      add(std::string(1, pattern[i]));
      continue;
    }
    if (++i == pattern.size()) break;  // a single % at the end is dropped
    switch (pattern[i]) {
      case '%':
        add("%");
        break;
      case 'p':
        add(std::to_string(dumped.pid));
        names_pid = true;
        break;
      case 's':
        add(std::to_string(dumped.signal));
        break;
      case 'u':
        add(std::to_string(dumped.user));
        break;
      case 'g':
        add(std::to_string(dumped.group));
        break;
      case 'h':
        add(dumped.host);
        break;
      default:  // %e %E %f %t %c %d, and numbers of other namespaces: known only to the kernel
        glob += '*';
        known = false;
    }
  }
  if (uses_pid && !names_pid) add('.' + std::to_string(dumped.pid));
  if (!path.starts_with('/') && !glob.starts_with('/')) {
    path = dumped.cwd + '/' + path;
    glob = GlobEscaped(dumped.cwd) + '/' + glob;
  }
  return known ? CorePlace{CorePlace::Kind::kFile, std::move(path)}
               : CorePlace{CorePlace::Kind::kGlob, std::move(glob)};
}

namespace {

// Whether the file systems to which a process writes are full, as text.
//
// Inspects file systems; independent of processes.

constexpr std::uint64_t kMinFreeBytes = 64U << 10;

// The resource that the file system has run out of; empty if none, or if unknown.
std::string Missing(const std::string& path) {
  struct statvfs room = {};
  if (path.empty() || ::statvfs(path.c_str(), &room) != 0 || (room.f_flag & ST_RDONLY) != 0) return {};
  const std::uint64_t blocks = ::geteuid() == 0 ? room.f_bfree : room.f_bavail;
  // File systems without a fixed number of blocks or files report 0.
  if (room.f_blocks > 0 && blocks * room.f_frsize < kMinFreeBytes) return "space";
  if (room.f_files > 0 && room.f_ffree == 0) return "place for another file";
  return {};
}

// A phrase for users: "no space is left in the file system of the folder it ran in, \"/data\""; empty if both the log's
// file system and the folder's have space, or if unknown. Less than 64 KiB counts as none: a process that writes larger
// pieces than the remaining space has failed as well.
std::string FullDiskText(const std::string& log, const std::string& cwd) {
  if (const std::string missing = Missing(log); !missing.empty()) {
    return fmt::format("no {} is left in the file system of its log, {}", missing, Quoted(log));
  }
  if (const std::string missing = Missing(cwd); !missing.empty()) {
    return fmt::format("no {} is left in the file system of the folder it ran in, {}", missing, Quoted(cwd));
  }
  return {};
}

std::optional<off_t> SizeOf(const std::string& path, struct timespec* changed = nullptr) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (changed != nullptr) *changed = status.st_mtim;
  return status.st_size;
}

// The most recently written file that matches the pattern; empty if there is none.
std::string NewestOf(const std::string& pattern) {
  glob_t found = {};
  std::string newest;
  struct timespec newest_at = {};
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      struct timespec at = {};
      if (!SizeOf(found.gl_pathv[i], &at)) continue;
      if (!newest.empty() && std::pair(at.tv_sec, at.tv_nsec) < std::pair(newest_at.tv_sec, newest_at.tv_nsec))
        continue;
      newest = found.gl_pathv[i];
      newest_at = at;
    }
  }
  ::globfree(&found);
  return newest;
}

std::string CoreText(std::int32_t pid, std::int32_t signal, const std::string& cwd) {
  const std::string pattern = KernelLine("/proc/sys/kernel/core_pattern");
  const CorePlace place = CorePlaceOf(pattern, KernelLine("/proc/sys/kernel/core_uses_pid") == "1",
                                      {pid, signal, ::getuid(), ::getgid(), OwnHostName(), cwd});
  if (place.kind == CorePlace::Kind::kProgram) return fmt::format("the core dump was handed to {}", place.text);
  const std::string file = place.kind == CorePlace::Kind::kGlob ? NewestOf(place.text) : place.text;
  const auto size = file.empty() ? std::nullopt : SizeOf(file);
  if (size) return fmt::format("core dump of {} KiB in {}", (*size + 1'023) / 1'024, file);
  return fmt::format("a core dump was written; kernel.core_pattern is {}", pattern);
}

// "AddressSanitizer: heap-use-after-free a.cc:3 in main, in /tmp/asan.4711"; empty if there is no such file.
std::string SanitizerText(const std::string& path) {
  constexpr std::size_t kMaxRead = 256U << 10;
  constexpr std::size_t kMaxShown = 500;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string bytes(kMaxRead, '\0');
  const ssize_t size = ::read(file.get(), bytes.data(), bytes.size());
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  std::string found;
  bool by_summary = false;
  std::istringstream lines(bytes);
  for (std::string line; !by_summary && std::getline(lines, line);) {
    const SanitizerFinding finding = SanitizerFindingIn(line);
    if (!finding || (!found.empty() && !finding.summary)) continue;
    found = finding.text.substr(0, kMaxShown);
    by_summary = finding.summary;
  }
  return found.empty() ? found : fmt::format("{}, in {}", found, path);
}

}  // namespace

void ExitInspector::Started(const ProcessStarted& event, const std::string& cwd, const std::string& log,
                            std::vector<std::string> sanitizer_logs) {
  running_.insert_or_assign({event.process, event.attempt},
                            Running{event.pid, event.at, cwd, log, std::move(sanitizer_logs), false, false});
}

void ExitInspector::Signalled(const SignalSent& event) {
  const auto found = running_.find({event.process, event.attempt});
  if (found == running_.end() || event.error != 0) return;
  found->second.stopped = true;
  if (event.signal == SIGKILL) found->second.killed = true;
}

std::vector<EndEvidence> ExitInspector::Ended(const ProcessExited& event) {
  std::vector<EndEvidence> evidence;
  const auto found = running_.find({event.process, event.attempt});
  if (found == running_.end()) return evidence;
  const Running running = std::move(found->second);
  running_.erase(found);
  const auto add = [&](const char* kind, std::string detail) {
    evidence.push_back({event.process, event.attempt, kind, std::move(detail), MonotonicNowNs()});
  };
  if (event.core_dumped) add("core", CoreText(running.pid, event.code, running.cwd));
  if (event.signalled && event.code == SIGKILL && !running.killed) {
    if (std::string detail = memory_.Of(running.pid, running.at); !detail.empty()) add("memory", std::move(detail));
  }
  for (const std::string& path : running.sanitizer_logs) {
    if (!event.signalled && event.code == 0) break;
    if (std::string detail = SanitizerText(path); !detail.empty()) add("sanitizer", std::move(detail));
  }
  if ((event.signalled || event.code != 0) && !running.stopped) {
    if (std::string detail = FullDiskText(running.log, running.cwd); !detail.empty()) add("disk", std::move(detail));
  }
  return evidence;
}

}  // namespace muster
