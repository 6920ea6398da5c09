// Locking down the evaluator: after LockDown it can compute, use memory and communicate over its one descriptor, and
// nothing else. This cannot be undone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/system/without.h"

namespace muster {

struct Lockdown {
  std::vector<std::string> means;  // "no_new_privs", "landlock", "seccomp", …: mechanisms in use
  std::string error;               // empty, or the operation that the kernel refused although it should not
};

// no_new_privs (prctl(2)), Landlock without any rule (landlock(7), if the kernel has it), and a seccomp
// filter (seccomp(2)) that kills the process on any call not on its list. Without seccomp, "fd-limit"
// replaces it: no descriptor above the one in use can be opened, so no file, socket, pipe or memory of other
// processes, and an ordinary user's evaluator can start no process. The parent sets resource limits when it
// starts the process. Mechanisms named by `without` are not used. `filter` is the result of LockdownFilter(),
// if there is one.
Lockdown LockDown(const Without& without = {}, std::string_view filter = {});

// The seccomp filter in the kernel's format, for processes forked from this one: making it takes several times as long
// as installing it. Empty if it cannot be made; LockDown() then reports why.
std::string LockdownFilter();

}  // namespace muster
