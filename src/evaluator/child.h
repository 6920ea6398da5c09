// The evaluator process, which is the program muster-evaluator: locks itself down, after which it can only compute,
// use memory and communicate over its one descriptor, then reads requests, evaluates and answers until the last one.
// And the fork server, which forks one per request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/system/mechanism.h"
#include "lua/engine/engine.h"

namespace muster {

// Locking down the evaluator: after LockDown it can compute, use memory and communicate over its one descriptor, and
// nothing else. This cannot be undone.

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

// The evaluator process, which is the program muster-evaluator: locks itself down, then reads requests, evaluates and
// answers until the last one. And the fork server (evaluator/evaluator_process.h), which forks one per request.

// First argument of muster-evaluator: its mode; the second is the version of the muster that it serves.
inline constexpr const char* kEvaluatorArgument = "--evaluator";
inline constexpr const char* kForkServerArgument = "--fork-server";
inline constexpr const char* kWithSchema = "schema";        // a third one for a fork server: see EvaluatorForkServer
inline constexpr const char* kInForeground = "foreground";  // a further one: see EvaluatorForkServer
inline constexpr int kOfAnotherVersion = 71;                // exit code if the versions differ
// Descriptors it is started with; requests for evaluators arrive on the fork server's socket.
inline constexpr int kEvaluatorSocket = 3;
inline constexpr int kEvaluatorPage = 4;  // shared memory for a LastPlace (evaluation/exchange/limits.h)

// Does not return. `opened` is for tests.
[[noreturn]] void EvaluatorMain(OpenedInterpreter opened = nullptr);

// The same.
[[noreturn]] void ForkServerMain(bool schema_too, bool foreground = false, OpenedInterpreter opened = nullptr);

}  // namespace muster
