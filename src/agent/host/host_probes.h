// What a host's kernel and system let an agent do, found by trying it: mechanisms, a cgroup of one's own, device nodes,
// ports, the clock. Leaves nothing behind.
#pragma once

#include <string>
#include <vector>

#include "muster/host_facts.h"

namespace muster {

// `root` ends with '/' and stands before paths of devices and of /proc/sys, for tests. To be called in a process of its
// own: one of the trials moves nothing, but makes a cgroup and removes it again.
std::vector<HostCheck> TryHost(const std::string& root = "/");

// What `getent ahosts NAME` says of the host's own name: `output` and whether it ended well.
HostCheck NameTrial(const std::string& name, const std::string& output, bool ended_well);

}  // namespace muster
