// Which file systems a drill may fill (docs/drill.md): one that nobody else needs, and that says so.
#pragma once

#include <span>
#include <string>

namespace muster {

// A file of this name in its top folder says that a file system may be filled.
inline constexpr const char* kMayBeFilled = "muster-may-fill";

// Why the file system must not be filled whose top folder is this one: a sentence that says what to do instead; empty:
// it may be. It must have the file kMayBeFilled, and hold neither `/`, the home folder of the user, that of temporary
// files, nor any of `needed`, of which those that do not exist yet count by the folder that they will be in.
std::string WhyNotFilled(const std::string& directory, std::span<const std::string> needed);

}  // namespace muster
