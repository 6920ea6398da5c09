// Files that all muster processes of a host lock, in a folder that all users may write: opened without following links,
// created once, and removed only by their creator.
//
// Handles files and flock(2); independent of devices.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/unique_fd.h"

namespace muster {

// Opens the file of that name, created with mode 0666 if missing; for writing if permitted, else for reading. Empty,
// with errno set, if it cannot be opened or is not a regular file with exactly one link (EINVAL).
UniqueFd OpenLeaseFile(int folder, const std::string& name);
// The same for reading, without creation: closing it raises no IN_CLOSE_WRITE for processes that watch the folder.
UniqueFd InspectLeaseFile(int folder, const std::string& name);

// Whether the name still refers to the file: a lock on a removed file has no effect.
bool IsStillThere(int folder, const std::string& name, int file);

// Waits for the exclusive lock, at most `patience_ms`. False after that time, or on an error.
bool LockWithin(int file, std::uint32_t patience_ms);

// Up to 64 KiB from the beginning; untrusted.
std::string ReadLeaseFile(int file);
// Replaces the content; best effort, since only the lock matters.
void WriteLeaseFile(int file, const std::string& text);

}  // namespace muster
