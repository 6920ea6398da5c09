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
  // Those that run now belong to the host. `init`: the process, by its pid here, that all of the host hangs on.
  explicit HostProcesses(pid_t init)
      : space_("/proc/" + std::to_string(init) + "/ns/pid"), before_(ProcessesIn(space_)) {}

  // Their pids here. What sshd had for a connection sees a little later than ssh that it is over; so processes have the
  // time that nothing but a broken one needs.
  std::vector<pid_t> New() const {
    std::vector<pid_t> found;
    for (const pid_t pid : ProcessesIn(space_)) {
      if (std::find(before_.begin(), before_.end(), pid) != before_.end()) continue;
      const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
      if (process && !AwaitReadable(process.get())) found.push_back(pid);
    }
    return found;
  }

 private:
  std::string space_;
  std::vector<pid_t> before_;
};

}  // namespace muster::testing
