// Folders whose group may read what muster keeps in them. The folder itself says so, by its mode (setgid, readable and
// searchable for the group), so head and agents need not be told.
#pragma once

#include <string>

#include <sys/stat.h>

namespace muster {

inline bool IsForGroup(mode_t folder) {
  constexpr mode_t kMark = S_ISGID | S_IRGRP | S_IXGRP;
  return S_ISDIR(folder) && (folder & kMark) == kMark;
}

// The mode that a file of muster's gets in the folder that is open there: 0640 or 0600.
inline mode_t FileModeIn(int folder) {
  struct stat status {};
  return ::fstat(folder, &status) == 0 && IsForGroup(status.st_mode) ? 0640 : 0600;
}

// Gives the file, just made at that path, to its folder's group, whatever the umask took from it.
inline void ShareWithGroup(int file, const std::string& path) {
  struct stat status {};
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || ::stat(path.substr(0, slash).c_str(), &status) != 0) return;
  if (IsForGroup(status.st_mode)) static_cast<void>(::fchmod(file, 0640));
}

}  // namespace muster
