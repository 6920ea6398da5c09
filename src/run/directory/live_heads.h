// Which heads of runs and sweeps this user has on this machine, wherever their folders are: one small file for each, in
// the user's runtime directory. `muster ps --all` reads them.
//
// An entry is a hint, never an authority: whether a head lives is asked of its folder's lock
// (run/directory/run_directory.h), and an entry that cannot be written costs nothing but that the head is not found
// this way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

inline constexpr std::size_t kMostHeadEntry = 8U << 10;  // bytes
inline constexpr std::size_t kMostHeads = 10'000;

// $XDG_RUNTIME_DIR/muster where that variable names a folder (absolute) of the user's, else /run/user/UID/muster, else
// /tmp/muster-UID. Mode 0700; it need not be there.
std::string LiveHeadsFolder(std::string_view runtime_dir);
// By this process's XDG_RUNTIME_DIR.
std::string OwnLiveHeadsFolder();

class LiveHead {
 public:
  // Of this process, for as long as the object lives; in `heads_folder`, which is made if it is not there. `folder`:
  // the run or sweep directory, absolute; `id`: the run's or sweep's.
  static LiveHead Announce(const std::string& heads_folder, const std::string& folder, const std::string& id);
  LiveHead() = default;
  LiveHead(LiveHead&& other) noexcept;
  LiveHead& operator=(LiveHead&& other) noexcept;
  ~LiveHead();

 private:
  std::string file_;  // empty: there is none
};

// Folders of the heads that live, sorted. Entries of dead heads (their process, by pid, start time and boot, is gone,
// and nobody holds their folder) are removed. A folder or an entry of another user's, or that others can write, is not
// read.
std::vector<std::string> FoldersOfLiveHeads(const std::string& heads_folder);

}  // namespace muster
