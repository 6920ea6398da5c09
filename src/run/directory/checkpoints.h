// Checkpoints in the folder where a job's processes write them: which are complete, and which is the newest.
//
// Looks at files and reads none but the one that names the newest; knows neither plan nor binding. What it finds was
// written by the programs: names are theirs.
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

// The place with its folder as a path. Fails with a hole that only a run fills, the run directory excepted.
tl::expected<CheckpointPlace, std::string> PlaceInRun(const CheckpointPlace& place, const std::string& run_dir);

// The complete ones, the newest last: ordered by the numbers in their paths below the folder, from left to right, then
// by when they were modified. Left out are empty files and folders, names that end with ".tmp", folders without the
// file that completes them, and what `besides` holds. Where a file names the newest, that one alone. `place.dir` is a
// path. Fails with one line that says why there is none.
tl::expected<std::vector<Checkpoint>, std::string> CompleteCheckpoints(const CheckpointPlace& place,
                                                                       const std::set<Checkpoint>& besides = {});

// The folders below `place.dir`, as paths, in which something may be written that makes a checkpoint: those on the way
// to what the pattern matches, what it matches, and within that those on the way to the file that completes it. Where a
// file names the newest: those on the way to that file, and to and within what it names now. Only what is there.
std::vector<std::string> CheckpointFolders(const CheckpointPlace& place);

}  // namespace muster
