// A control group (cgroup v2) for all processes of an agent, so that the kernel can kill them at once, even if they
// fork in the meantime (cgroup.kill, Linux 5.14).
//
// Uses the files of cgroups(7). Each agent creates a new group and kills it once, at the end: no process is started in
// a group that has been killed (Linux 6.18 was seen to kill such processes).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/system/unique_fd.h"

namespace muster {

// The cgroup v2 folder of a process, from its /proc/PID/cgroup and /proc/PID/mountinfo. Empty if the hierarchy is not
// mounted where the process could see its own group.
std::string CgroupFolder(std::string_view cgroup, std::string_view mountinfo);

class Cgroup {
 public:
  // Creates the group below the one of this process. Nothing if there is no such hierarchy, no write permission, or no
  // cgroup.kill.
  static std::optional<Cgroup> MakeBelowOwn(const std::string& name);

  Cgroup(Cgroup&& other) noexcept;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();  // leaves the group if this process is in it, and removes the group if it is empty

  const std::string& path() const { return path_; }

  // The folder, for Launcher::StartIn, which starts processes directly in the group. None if it cannot be opened.
  UniqueFd Open() const;
  // The alternative: moves this process, and so all processes that it starts later, into the group; false if the kernel
  // refuses. Entering and leaving take some milliseconds each, since the kernel synchronises all processors.
  bool Enter();
  // Kills all processes in the group; this process leaves it first. True if there were processes and the kill was
  // accepted; they still have to be reaped.
  bool Kill();

 private:
  Cgroup(std::string path, std::string above) : path_(std::move(path)), above_(std::move(above)) {}

  std::string path_;
  std::string above_;
  bool inside_ = false;
};

// The processes in that group now; empty if it does not exist.
std::vector<pid_t> CgroupMembers(const std::string& path);
// Kills all processes in that group; false on failure.
bool KillCgroup(const std::string& path);
// Removes the group; false if it does not exist or is not empty.
bool RemoveCgroup(const std::string& path);

}  // namespace muster
