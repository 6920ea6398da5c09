// Reads the properties of a host from files: system, drivers, limits, file systems, programs.
//
// Reads /proc, /sys, /etc and the places where vendors store driver versions; starts no program, loads no library and
// evaluates nothing. Unreadable properties stay empty. Folders may be on file systems that do not respond: the caller
// must be able to wait for ever (agent/host/host_inspection.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "muster/host_facts.h"
#include "wire/protocol/inspection_messages.h"

namespace muster {

// Everything except disks, programs, Pythons, and driver versions in ordinary folders: none of this waits for a disk.
// `root` ends with a slash. `environment` is "NAME=value", `variables` NAME or PREFIX*.
HostFacts ReadHostFacts(const std::vector<std::string>& variables, const std::vector<std::string>& environment,
                        const std::string& root = "/");

// Driver versions by kind of device. cuda: /proc/driver/nvidia/version, or the version of the kernel module; hip: that
// of amdgpu; ascend: version.info in the folder named by /etc/ascend_install.info, /usr/local/Ascend by default.
std::map<std::string, std::string> ReadDrivers(const std::string& root = "/");

// The file system of the place. For a missing folder, that of its nearest existing parent.
DiskFact CheckDisk(const FolderQuery& place);

// As a start in `cwd` would find it.
ProgramFact FindProgramOnHost(const ProgramQuery& sought, const std::vector<std::string>& search_dirs,
                              const std::string& cwd);

}  // namespace muster
