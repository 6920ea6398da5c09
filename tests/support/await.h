// Waiting in tests: for a line in a file that a process writes, for a descriptor, for a process's exit. The deadline of
// a wait is reached only on failure.
#pragma once

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/system/unique_fd.h"

namespace muster::testing {

inline constexpr std::chrono::seconds kDeadline{30};

inline std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  // A last line without a newline is incomplete.
  while (std::getline(file, line) && !file.eof()) lines.push_back(line);
  return lines;
}

// True once the descriptor is readable (for a pidfd: the process has exited).
inline bool AwaitReadable(int fd, std::chrono::milliseconds deadline = kDeadline) {
  pollfd ready = {fd, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(deadline.count())) > 0;
}

// Waits for the first complete line that starts with `prefix`. The file must exist.
inline std::optional<std::string> AwaitLine(const std::string& path, const std::string& prefix) {
  const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
  if (::inotify_add_watch(watch.get(), path.c_str(), IN_MODIFY) < 0) return std::nullopt;
  for (;;) {
    for (const std::string& line : LinesOf(path)) {
      if (line.starts_with(prefix)) return line;
    }
    if (!AwaitReadable(watch.get())) return std::nullopt;
    std::vector<char> events(4096);
    if (::read(watch.get(), events.data(), events.size()) < 0) return std::nullopt;
  }
}

}  // namespace muster::testing
