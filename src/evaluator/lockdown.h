// How the evaluator gives up everything it does not need: after LockDown it can compute, use memory and talk
// over the one descriptor it has, and nothing else. One way: nothing is ever given back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/system/without.h"

namespace muster {

struct Lockdown {
  std::vector<std::string> means;  // "no_new_privs", "landlock", "seccomp", …: what is in force
  std::string error;               // empty, or what the kernel refused although it must not
};

// no_new_privs (prctl(2)), Landlock without any rule (landlock(7), where the kernel has it), and a seccomp
// filter (seccomp(2)) that kills the process on any call not on its list. Where there is no seccomp, "fd-limit" stands
// in: no descriptor above the one it talks over can be had any more, and so no file, socket, pipe or memory of others,
// and an ordinary user's evaluator can start no process. Resource limits are the parent's to set when it starts the
// process. What `without` names is not used.
// `filter` is that filter, if it was made already.
Lockdown LockDown(const Without& without = {}, std::string_view filter = {});

// That filter as the kernel takes it, for processes that are forked from this one: making it takes several times as
// long as putting it in force. Empty if it cannot be made, which LockDown() then says why.
std::string LockdownFilter();

}  // namespace muster
