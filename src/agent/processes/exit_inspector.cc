#include "agent/processes/exit_inspector.h"

#include <array>
#include <csignal>
#include <fstream>

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/processes/core_place.h"
#include "agent/processes/full_disk.h"
#include "base/system/clock.h"
#include "base/system/host_name.h"

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

}  // namespace

void ExitInspector::Started(const ProcessStarted& event, const std::string& cwd, const std::string& log) {
  running_.insert_or_assign({event.process, event.attempt}, Running{event.pid, event.at, cwd, log, false, false});
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
  if ((event.signalled || event.code != 0) && !running.stopped) {
    if (std::string detail = FullDiskText(running.log, running.cwd); !detail.empty()) add("disk", std::move(detail));
  }
  return evidence;
}

}  // namespace muster
