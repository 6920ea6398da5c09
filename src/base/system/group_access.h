// Access modes for run directories that a Unix group may read. The folder's own mode (setgid, readable and searchable
// for the group) selects them, so head and agents need no setting for it.
#pragma once

#include <sys/stat.h>

namespace muster {

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

}  // namespace muster
