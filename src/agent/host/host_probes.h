// Probes what the host's kernel and system permit an agent: kernel mechanisms, creating a cgroup, device files, ports,
// the clock. Leaves no traces.
#pragma once

#include <string>
#include <vector>

#include "muster/host_facts.h"

namespace muster {

// `root` ends with '/' and is prepended to paths of devices and of /proc/sys, for tests. Call it in a separate process:
// one of the probes creates a cgroup, moves nothing into it, and removes it.
std::vector<HostCheck> TryHost(const std::string& root = "/");

// Evaluates `getent ahosts NAME` for the host's own name: its `output` and whether it succeeded.
HostCheck NameTrial(const std::string& name, const std::string& output, bool ended_well);

}  // namespace muster
