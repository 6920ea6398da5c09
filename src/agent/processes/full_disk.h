// Whether the file systems to which a process writes are full, as text.
//
// Inspects file systems; independent of processes.
#pragma once

#include <string>

namespace muster {

// A phrase for users: "no space is left in the file system of the folder it ran in, \"/data\""; empty if both the log's
// file system and the folder's have space, or if unknown. Less than 64 KiB counts as none: a process that writes larger
// pieces than the remaining space has failed as well.
std::string FullDiskText(const std::string& log, const std::string& cwd);

}  // namespace muster
