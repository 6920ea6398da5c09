// Opens files below a directory that is open, so that no symbolic link on the way, and nothing that is renamed
// meanwhile, leads out of it.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/system/unique_fd.h"

namespace muster {

// The parts of a path that stays below its directory. Empty if it does not: for an absolute path, for empty, "." and
// ".." parts, and for a path with a zero byte.
std::vector<std::string> PartsBelow(const std::string& path);

// Opens `path` below `directory` as openat(2), with O_CLOEXEC; `mode` is for O_CREAT. No part may be a symbolic link:
// openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, or part by part with O_NOFOLLOW where the kernel has no
// openat2. Fails with errno: EINVAL for a path that is none (PartsBelow), ELOOP or ENOTDIR for a link.
UniqueFd OpenBelow(int directory, const std::string& path, int flags, mode_t mode = 0);

// The same without openat2.
UniqueFd OpenBelowByParts(int directory, const std::string& path, int flags, mode_t mode = 0);

// Opens what is there for reading, below a directory whose contents somebody else wrote: links are followed as long as
// they stay below it, and a FIFO is not waited for. Fails with errno: EXDEV for a path that leads out of the directory.
// Where the kernel has no openat2 (before Linux 5.6) no link is followed: ELOOP.
UniqueFd OpenInside(int directory, const std::string& path, int flags);

// Whether the file is in procfs, which holds what processes keep to themselves: their variables, memory, descriptors.
bool IsInProcfs(int file);

// Whether the path leads to the directory that is open: false if that was moved or removed, or if the path is a link.
bool LeadsTo(const std::string& path, int directory);

// A file below an open directory.
struct FileBelow {
  int directory = -1;  // not owned
  std::string path;    // relative to it

  // For system calls that take no descriptor (inotify_add_watch(2)) and for other programs' working folders: a path by
  // way of /proc/self/fd. It leads to the same file for as long as the directory is open, whatever its own name is by
  // then.
  std::string ThroughDescriptor() const;
};

}  // namespace muster
