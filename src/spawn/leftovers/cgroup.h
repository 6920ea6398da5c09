// A control group (cgroup v2) for all that an agent starts, so that the kernel can end it in one go, whatever it forks
// meanwhile (cgroup.kill, Linux 5.14).
//
// Knows the files of cgroups(7). The group is made new for each agent and killed once, at the end: nothing is ever
// started in a group that has been killed (Linux 6.18 was seen to end what is).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/system/unique_fd.h"

namespace muster {

// The folder of a process's cgroup v2, from its /proc/PID/cgroup and /proc/PID/mountinfo. Empty if the hierarchy is not
// mounted where the process could see its own group.
std::string CgroupFolder(std::string_view cgroup, std::string_view mountinfo);

class Cgroup {
 public:
  // Makes the group below the one of this process. Nothing if there is no such hierarchy, it is not ours to change, or
  // the kernel has no cgroup.kill.
  static std::optional<Cgroup> MakeBelowOwn(const std::string& name);

  Cgroup(Cgroup&& other) noexcept;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();  // leaves the group if it is inside, and removes it if nobody is in it any more

  const std::string& path() const { return path_; }

  // The folder, for Launcher::StartIn: what is started is born in the group. None if it cannot be opened.
  UniqueFd Open() const;
  // The other way: this process, and what it starts from here on; false if the kernel refuses. Takes some milliseconds
  // in which the kernel waits for all processors, and so does leaving the group again.
  bool Enter();
  // Ends everything in the group, which this process leaves before. True if there was anything and it was told to end;
  // it is still to be reaped then.
  bool Kill();

 private:
  Cgroup(std::string path, std::string above) : path_(std::move(path)), above_(std::move(above)) {}

  std::string path_;
  std::string above_;
  bool inside_ = false;
};

// Who is in that group now; empty if it is none.
std::vector<pid_t> CgroupMembers(const std::string& path);
// Ends everything in that group; false if it cannot be told to.
bool KillCgroup(const std::string& path);
// Removes the group; false if it is none or somebody is in it.
bool RemoveCgroup(const std::string& path);

}  // namespace muster
