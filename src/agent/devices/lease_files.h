// Files that all musters of a host lock, in a folder that all users may write: opened without following what somebody
// may have put there, created once, and never removed but by whoever made them.
//
// Knows files and flock(2); knows no devices.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/unique_fd.h"

namespace muster {

// The file of that name, created if there is none, with mode 0666; open for writing as far as its owner lets us.
// Empty, with errno set, if it cannot be opened or is not a regular file with exactly one link (EINVAL).
UniqueFd OpenLeaseFile(int folder, const std::string& name);
// The same for reading, and not created: closing it raises no IN_CLOSE_WRITE for those that watch the folder.
UniqueFd InspectLeaseFile(int folder, const std::string& name);

// Whether the name still leads to the file: a lock on one that was removed is worth nothing.
bool IsStillThere(int folder, const std::string& name, int file);

// Waits for the exclusive lock, and gives up after so long. False then, or on an error.
bool LockWithin(int file, std::uint32_t patience_ms);

// Up to 64 KiB from the beginning; untrusted.
std::string ReadLeaseFile(int file);
// In the place of what is there; best effort, since the lock is what counts.
void WriteLeaseFile(int file, const std::string& text);

}  // namespace muster
