#include "agent/processes/exit_inspector.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/processes/core_place.h"
#include "agent/processes/full_disk.h"
#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "base/system/unique_fd.h"
#include "base/values/sanitizer_line.h"

namespace muster {
namespace {

std::string FirstLineOf(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
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
  const std::string pattern = FirstLineOf("/proc/sys/kernel/core_pattern");
  const CorePlace place = CorePlaceOf(pattern, FirstLineOf("/proc/sys/kernel/core_uses_pid") == "1",
                                      {pid, signal, ::getuid(), ::getgid(), OwnHostName(), cwd});
  if (place.kind == CorePlace::Kind::kProgram) return fmt::format("the core dump was handed to {}", place.text);
  const std::string file = place.kind == CorePlace::Kind::kGlob ? NewestOf(place.text) : place.text;
  const auto size = file.empty() ? std::nullopt : SizeOf(file);
  if (size) return fmt::format("core dump of {} KiB in {}", (*size + 1'023) / 1'024, file);
  return fmt::format("a core dump was written; kernel.core_pattern is {}", pattern);
}

// "AddressSanitizer: heap-use-after-free a.cc:3 in main, in /tmp/asan.4711"; empty if there is no such file.
std::string SanitizerText(const std::string& path) {
  constexpr std::size_t kMostRead = 256U << 10;
  constexpr std::size_t kMostShown = 500;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string bytes(kMostRead, '\0');
  const ssize_t size = ::read(file.get(), bytes.data(), bytes.size());
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  std::string found;
  bool by_summary = false;
  std::istringstream lines(bytes);
  for (std::string line; !by_summary && std::getline(lines, line);) {
    const SanitizerFinding finding = SanitizerFindingIn(line);
    if (!finding || (!found.empty() && !finding.summary)) continue;
    found = finding.text.substr(0, kMostShown);
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
