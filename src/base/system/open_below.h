// Opens files below an open directory so that no symbolic link, and no concurrent rename, can lead outside of
// it.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/system/unique_fd.h"

namespace muster {

// Splits a path that stays below its directory into components. Empty for an absolute path, for empty, "." and ".."
// components, and for a path with a zero byte.
std::vector<std::string> PartsBelow(const std::string& path);

// Opens `path` below `directory` like openat(2), with O_CLOEXEC; `mode` is for O_CREAT. No component may be a symbolic
// link: uses openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, or opens each component with O_NOFOLLOW on
// kernels without openat2. Fails with errno: EINVAL for an invalid path (PartsBelow), ELOOP or ENOTDIR for a link.
UniqueFd OpenBelow(int directory, const std::string& path, int flags, mode_t mode = 0);

// The same, without openat2.
UniqueFd OpenBelowByParts(int directory, const std::string& path, int flags, mode_t mode = 0);

// Opens an existing file for reading below a directory with untrusted contents: follows links as long as they stay
// below it, and does not block on a FIFO. Fails with errno: EXDEV for a path that leads out of the directory. On
// kernels without openat2 (before Linux 5.6) it follows no link: ELOOP.
UniqueFd OpenInside(int directory, const std::string& path, int flags);

// Whether the file is in procfs, which exposes private data of processes: variables, memory, descriptors.
bool IsInProcfs(int file);

// Whether the path still leads to this open directory: false if it was moved or removed, or if the path is a link.
bool LeadsTo(const std::string& path, int directory);

// A file below an open directory.
struct FileBelow {
  int directory = -1;  // not owned
  std::string path;    // relative to it

  // A path through /proc/self/fd, for system calls that take no descriptor (inotify_add_watch(2)) and for working
  // folders of other programs. It leads to the same file as long as the directory is open, even if the directory is
  // renamed.
  std::string ThroughDescriptor() const;
};

}  // namespace muster
