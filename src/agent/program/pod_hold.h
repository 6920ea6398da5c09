// The first process of a container in a pod: it holds the pod until the agent that muster starts in it by `kubectl
// exec` has ended, so that the end of the agent is the end of the pod.
#pragma once

#include <chrono>

namespace muster {

// Waits for an agent, at most so long, and then until no agent is left; reaps orphans meanwhile. SIGTERM, with which
// the deletion of the pod begins, is passed on to the agents, which end within the pod's grace period; without an
// agent, and the second time, it returns. Returns the exit code: 0 if there was an agent, or on SIGTERM; else 1, with a
// message on stderr. All other processes of the container's PID namespace end with this one.
int HoldPod(std::chrono::seconds wait);

// Called by an agent, before it has children: process 1 of its PID namespace, which must be in HoldPod(), awaits the
// end of the calling process. Returns an empty text, or an error.
const char* JoinHolder();

}  // namespace muster
