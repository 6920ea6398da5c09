// Lists the active heads of runs and sweeps that this user has on this machine, in whatever folders: one small file for
// each, in the user's runtime directory. `muster ps --all` reads them.
//
// An entry is only a hint: whether a head is alive is decided by the lock of its folder
// (run/directory/run_directory.h). If an entry cannot be written, the head is not found in this way, and nothing else
// is affected.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/system/unique_fd.h"

namespace muster {

inline constexpr std::size_t kMostHeadEntry = 8U << 10;  // bytes
inline constexpr std::size_t kMostHeads = 10'000;

// $XDG_RUNTIME_DIR/muster if that variable names an (absolute) folder of the user, else /run/user/UID/muster, else
// /tmp/muster-UID. Mode 0700; it may not exist yet.
std::string LiveHeadsFolder(std::string_view runtime_dir);
// The folder by this process's XDG_RUNTIME_DIR.
std::string OwnLiveHeadsFolder();

// Opens a folder of this user that nobody else can enter or write to; invalid for any other, and for a link.
UniqueFd OpenPrivate(const std::string& path);

class LiveHead {
 public:
  // Creates the entry of this process in `heads_folder`, which is created if missing; the destructor removes it.
  // `folder`: the run or sweep directory, absolute; `id`: the id of the run or sweep.
  static LiveHead Announce(const std::string& heads_folder, const std::string& folder, const std::string& id);
  LiveHead() = default;
  LiveHead(LiveHead&& other) noexcept;
  LiveHead& operator=(LiveHead&& other) noexcept;
  ~LiveHead();

 private:
  std::string file_;  // empty if there is no entry
};

// Folders of the active heads, sorted. Removes entries of dead heads: their process (by pid, start time and boot) has
// exited, and no process holds the lock of their folder. Folders and entries that belong to another user, or that
// others can write, are not read.
std::vector<std::string> FoldersOfLiveHeads(const std::string& heads_folder);

}  // namespace muster
