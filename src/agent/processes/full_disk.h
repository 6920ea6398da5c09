// Whether the places where a process writes have room left, told in words.
//
// Knows file systems, no process.
#pragma once

#include <string>

namespace muster {

// For people: "no space is left in the file system of the folder it ran in, \"/data\""; empty if both the log's file
// system and the folder's have some, or cannot be asked. Less than 64 KiB is none: a process that writes in larger
// pieces than what is left has failed, too.
std::string FullDiskText(const std::string& log, const std::string& cwd);

}  // namespace muster
