// Finds new processes on a host of a testbed.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/await.h"
#include "support/processes.h"

namespace muster::testing {

class HostProcesses {
 public:
  // Processes that run now are considered part of the host. `init`: the host's init, by its pid in this namespace.
  explicit HostProcesses(pid_t init)
      : space_("/proc/" + std::to_string(init) + "/ns/pid"), before_(ProcessesIn(space_)) {}

  // Returns pids in this namespace. sshd's processes notice the end of a connection a little later than ssh does, so
  // every process gets time to exit; only a broken one needs all of it.
  std::vector<pid_t> New() const {
    std::vector<pid_t> found;
    for (const pid_t pid : ProcessesIn(space_)) {
      if (std::find(before_.begin(), before_.end(), pid) != before_.end()) continue;
      if (!AwaitEnd(pid)) found.push_back(pid);
    }
    return found;
  }

 private:
  std::string space_;
  std::vector<pid_t> before_;
};

}  // namespace muster::testing
