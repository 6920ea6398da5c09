// Files by system calls: whole buffers, opening below a directory so that no link and no rename leads outside
// of it, access modes of run directories that a group may read, and change events of inotify(7).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

#include "base/system/unique_fd.h"

namespace muster {

// Writes a whole buffer, with as many write(2) calls as needed.

// Blocks if the descriptor does. Returns an error number, or 0 when everything is written.
int WriteAll(int fd, std::string_view bytes);
// The same; returns the number of written bytes: fewer than all if the file takes no more, with errno.
std::size_t WriteMost(int fd, std::string_view bytes);

// WriteAll, and then sets the offset to the beginning of the file, for its reader.
int WriteForReader(int fd, std::string_view bytes);

// Up to `most` bytes from that offset on: fewer at the end of the file, and where it cannot be read. Leaves the file's
// own offset alone.
std::string BytesAt(int fd, std::uint64_t offset, std::size_t most);

// Access modes for run directories that a Unix group may read. The folder's own mode (setgid, readable and searchable
// for the group) selects them, so head and agents need no setting for it.

// For a folder in which members of the group keep their runs side by side. Sticky, so that nobody can rename or remove
// the runs of others.
inline constexpr mode_t kSharedFolderMode = 03770;
// For a run directory and its subfolders: the group may read.
inline constexpr mode_t kGroupFolderMode = 02750;

inline bool IsForGroup(mode_t folder) {
  constexpr mode_t kMark = S_ISGID | S_IRGRP | S_IXGRP;
  return S_ISDIR(folder) && (folder & kMark) == kMark;
}

// The mode for a new file in this open folder: 0640 or 0600.
inline mode_t FileModeIn(int folder) {
  struct stat status {};
  return ::fstat(folder, &status) == 0 && IsForGroup(status.st_mode) ? 0640 : 0600;
}

// Opens files below an open directory so that no symbolic link, and no concurrent rename, can lead outside of
// it.

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

// Reads file change events from inotify(7), one at a time. Does not depend on what is watched or
// why.

struct FileChange {
  int watch = -1;          // -1 if `mask` has IN_Q_OVERFLOW: events were lost, so anything may have changed
  std::uint32_t mask = 0;  // IN_…
  std::string_view name;   // file name below a watched folder, else empty; valid during the callback only
};

// Reads events from a non-blocking inotify descriptor until it is empty and passes each one to the callback, in order.
// The callback may add and remove watches, but must not close the descriptor.
void ReadFileChanges(int inotify, const std::function<void(const FileChange&)>& tell);

}  // namespace muster
