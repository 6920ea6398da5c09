// Finds processes by a token in their environment: what a run left, whatever the current parent is.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <dirent.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/await.h"

namespace muster::testing {

// Returns none if there is no such process (any more).
inline UniqueFd PidFd(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

// Waits for the end of a process, which may have ended and been reaped already. Returns false if it does not end.
inline bool AwaitEnd(pid_t pid) {
  const UniqueFd process = PidFd(pid);
  return !process || AwaitReadable(process.get());
}

// Returns all processes of this machine whose environment at their exec contains the text.
inline std::vector<pid_t> ProcessesWith(const std::string& token) {
  std::vector<pid_t> found;
  DIR* proc = ::opendir("/proc");
  while (const dirent* entry = proc != nullptr ? ::readdir(proc) : nullptr) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    const std::string environment((std::istreambuf_iterator<char>(file)), {});
    if (environment.find(token) != std::string::npos) found.push_back(pid);
  }
  if (proc != nullptr) ::closedir(proc);
  return found;
}

// Returns 0 if there is no such process.
inline pid_t ParentOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; file >> word;) {
    if (word != "PPid:") continue;
    pid_t parent = 0;
    file >> parent;
    return parent;
  }
  return 0;
}

// Returns the pids, in this namespace, of all processes in the PID namespace of this file in /proc.
inline std::vector<pid_t> ProcessesIn(const std::string& pid_namespace) {
  std::error_code error;
  const std::filesystem::path sought = std::filesystem::read_symlink(pid_namespace, error);
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && std::filesystem::read_symlink(entry.path() / "ns/pid", error) == sought && !error) {
      found.push_back(pid);
    }
  }
  return found;
}

}  // namespace muster::testing
