// What muster keeps in the user's runtime directory: the list of active heads of runs and sweeps, and a folder for
// files that processes execute, for runs whose directory another user could replace by renaming a folder above it. An
// entry of the list is only a hint: whether a head is alive is decided by the lock of its folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/unique_fd.h"

namespace muster {

// Lists the active heads of runs and sweeps that this user has on this machine, in whatever folders: one small file for
// each, in the user's runtime directory. `muster ps --all` reads them.
//
// An entry is only a hint: whether a head is alive is decided by the lock of its folder
// (run/directory/run_directory.h). If an entry cannot be written, the head is not found in this way, and nothing else
// is affected.

inline constexpr std::size_t kMaxHeadEntry = 8U << 10;  // bytes
inline constexpr std::size_t kMaxHeads = 10'000;

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

// Finds out whether another user can put another folder in the place of a directory, by renaming one above it.
//
// Looks at owners and modes only.

// A folder on the way to a directory in which other users can put another one in its place.
struct OpenWay {
  std::string why;   // 'every user can replace folders in "/data/scratch"'
  std::string hint;  // the command that changes that, and who can give it

  bool operator==(const OpenWay&) const = default;
};

// Said where a directory is made.
inline constexpr std::string_view kOpenWay =
    "what processes execute or read by the path of the run directory may be another user's";

// The first such folder above an absolute path without links: one that the group or everybody can write to and that is
// not sticky, or one of another user than the caller and root. A group that has the caller's name is the caller's own
// (as useradd(8) makes them). Nothing for a safe way.
std::optional<OpenWay> OpenWayTo(const std::string& directory);

// A folder of the user for the files that processes execute, where others can put another folder in the place of the
// run directory.
//
// In the user's runtime directory, or in /tmp if that cannot be trusted. A head removes it at its end.

// Its path; empty if the way to the run directory is safe, and if no folder can be made that is safe itself.
std::string MakeKeptFolder(const std::string& run_dir, std::string_view run_id);

// Removes that of a run, if it has one that belongs to the caller.
void RemoveKeptFolder(std::string_view run_id);

}  // namespace muster
