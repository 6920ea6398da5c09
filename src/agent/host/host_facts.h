// What a host is like, read from its files: system, drivers, limits, file systems, programs.
//
// Knows /proc, /sys, /etc and where vendors put the version of a driver; starts no program, loads no library and judges
// nothing. What is not there to be read stays empty. Folders may lie on file systems that do not answer: whoever calls
// must be able to wait for ever (agent/host/host_inspection.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "muster/host_facts.h"
#include "wire/protocol/inspection_messages.h"

namespace muster {

// All but disks, programs and pythons, and what of drivers lies in ordinary folders: none of this waits for a disk.
// `root` ends with a slash. `environment` is "NAME=value", `variables` NAME or PREFIX*.
HostFacts ReadHostFacts(const std::vector<std::string>& variables, const std::vector<std::string>& environment,
                        const std::string& root = "/");

// By kind of device: /proc/driver/nvidia/version, or the version of the kernel module for cuda; that of amdgpu for hip;
// for ascend the version.info of the folder that /etc/ascend_install.info names, /usr/local/Ascend by default.
std::map<std::string, std::string> ReadDrivers(const std::string& root = "/");

// The file system of the place. A folder that is not there yet will lie where the nearest one above it does.
DiskFact CheckDisk(const FolderQuery& place);

// As a start in `cwd` would find it.
ProgramFact FindProgramOnHost(const ProgramQuery& sought, const std::vector<std::string>& search_dirs,
                              const std::string& cwd);

}  // namespace muster
