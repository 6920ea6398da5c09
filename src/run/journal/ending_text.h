// Describes the end of a process, with the same words in messages, journal and report.
#pragma once

#include <string>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/journal/head_facts.h"

namespace muster {

// "exited with code 7", "was killed by SIGSEGV (core dumped)"
std::string EndingText(const ProcessExited& event);
// With the meaning of an exit code of the container's runtime: "exited with code 125 (podman could not start …)".
std::string EndingText(const Plan& plan, const ProcessExited& event);

// "could not be started: exec /usr/bin/train: No such file or directory"
std::string EndingText(const SpawnFailed& event);

// "was not ready within 60s"
std::string EndingText(const LimitPassed& event);

// "port rpc (20311) is taken by process 4711 (nc -l 20311)"; safe for a terminal
std::string TakenText(const PortTaken& event);

}  // namespace muster
