// Folders whose group may read what muster keeps in them. The folder itself says so, by its mode (setgid, readable and
// searchable for the group), so head and agents need not be told.
#pragma once

#include <sys/stat.h>

namespace muster {

// Of a folder in which members of the group keep their runs side by side. Sticky: none of them can rename or remove
// what another one keeps there.
inline constexpr mode_t kSharedFolderMode = 03770;
// Of a run directory and the folders in it: the group reads.
inline constexpr mode_t kGroupFolderMode = 02750;

inline bool IsForGroup(mode_t folder) {
  constexpr mode_t kMark = S_ISGID | S_IRGRP | S_IXGRP;
  return S_ISDIR(folder) && (folder & kMark) == kMark;
}

// The mode that a file of muster's gets in the folder that is open there: 0640 or 0600.
inline mode_t FileModeIn(int folder) {
  struct stat status {};
  return ::fstat(folder, &status) == 0 && IsForGroup(status.st_mode) ? 0640 : 0600;
}

}  // namespace muster
