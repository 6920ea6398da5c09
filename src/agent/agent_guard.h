// A guard for an agent that has no head on its own host: a second process, which ends what the agent leaves behind if
// the agent is ended in a way that it cannot see to that itself.
//
// Locally the head is that (docs/decisions/0004-head-and-agent-guard-each-other.md). Knows wait and descendants;
// nothing of what agents do.
#pragma once

#include <functional>
#include <string>

namespace muster {

// Tells the guard of the folder of a cgroup, which it removes at the end if the agent did not live to do so.
using TellGuard = std::function<void(const std::string& cgroup)>;

// Makes the agent a child of this process, as whom it returns: with the descriptors there are, in a session of its own,
// to be sent SIGTERM if the guard ends. The guard itself does not return: it lets go of stdin and stdout, waits for the
// agent's end and exits with its exit code, or with `failed` and a word on stderr if a signal ended it, once nothing is
// left. If there can be no guard there is none, and nobody to tell.
TellGuard BeGuarded(int failed);

}  // namespace muster
