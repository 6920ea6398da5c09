// Finds checkpoints in the folder where the processes of a job write them: which ones are complete, and which is the
// newest.
//
// Looks at files, and reads only the one that names the newest; does not depend on plan or binding. Files and their
// names come from the user's programs.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "tl/expected.hpp"

namespace muster {

struct Checkpoint {
  std::string path;  // absolute
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;

  auto operator<=>(const Checkpoint&) const = default;
};

// The place with its folder as a path. Fails if the folder has a placeholder that only a run can fill, except that of
// the run directory.
tl::expected<CheckpointPlace, std::string> PlaceInRun(const CheckpointPlace& place, const std::string& run_dir);

// The complete checkpoints, the newest last: ordered by the numbers in their paths below the folder, from left to
// right, then by modification time. Omits empty files and folders, names that end with ".tmp", folders without the file
// that completes them, and the checkpoints in `besides`. If a file names the newest checkpoint, returns that one alone.
// `place.dir` is a path. If there is none, fails with one line that states the reason.
tl::expected<std::vector<Checkpoint>, std::string> CompleteCheckpoints(const CheckpointPlace& place,
                                                                       const std::set<Checkpoint>& besides = {});

// Milliseconds since the file or folder was last modified, by the clock of its file system; -1 if that is not known.
std::int64_t CheckpointAgeMs(const std::string& path);

// The folders below `place.dir`, as paths, in which a program may write something that completes a checkpoint: those on
// the way to the matches of the pattern, the matches, and those within a match on the way to the file that completes
// it. If a file names the newest: those on the way to that file, and to and within the one that it names now. Returns
// only folders that exist.
std::vector<std::string> CheckpointFolders(const CheckpointPlace& place);

}  // namespace muster
