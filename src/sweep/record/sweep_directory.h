// The directory of a sweep: where it is, what is in it besides journal and index, and how a SWEEP argument finds one.
//
//   sweeps/<name>/<time>-<id>/   sweep.json  recipe/  inputs.json  journal.jsonl  index.sqlite  lock  t/…
//
// It is made and held as a run directory is (run/directory/run_directory.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/run_directory.h"
#include "space/sweep_description.h"

namespace muster {

inline constexpr DirectoryKind kSweepDirectories = {
    "sweep", "sweep.json", "start one with muster sweep, or name its folder",
    "see muster ls; wait for it to end, or stop it with ctrl-c where it runs"};

// Where sweeps are kept: below $MUSTER_HOME (its value, may be empty) or else below `cwd`.
std::string SweepsFolder(const std::string& cwd, std::string_view muster_home);

// A new one below `sweeps_folder`, held; Blame::kBusy as RunDirectory has it.
Result<RunDirectory> MakeSweepDirectory(const std::string& sweeps_folder, std::string_view name, std::string_view stamp,
                                        std::string_view sweep_id, bool for_group = false);
// That of a sweep that is gone on with.
Result<RunDirectory> HoldSweepDirectory(const std::string& sweep_dir);

// The folder that SWEEP names, as RUN names a run: a path, a name, name~N, ~N, a prefix of an id, or, left out, the
// newest. Kind "sweep".
Result<std::string> ResolveSweep(std::string_view sweep, const std::string& sweeps_folder,
                                 DirectoryUse use = DirectoryUse::kRead);

// "t/3f/3f9a1c2b4d5e6f70.0": of an attempt, below the sweep's directory; an ordinary run directory. It lies there
// whatever a journal says that the id is: what is no digit of one is "_".
std::string TrialFolder(std::string_view id, std::uint32_t attempt);

// sweep.json: what is read of a sweep without its recipe.
struct SweepFile {
  std::string sweep_id;
  std::string name;
  std::string doc;
  std::optional<Objective> objective;
  std::vector<std::string> names;  // swept, sorted
  std::uint64_t trials = 0;        // of the sampler
  std::vector<std::string> words;  // of the call, after "muster"
  std::string cwd;                 // of the call
  // Trials at once, read from the description; 0: its budget does not say. SweepFileText does not write it.
  std::uint64_t slots = 0;

  bool operator==(const SweepFile&) const = default;
};
// With what else is said about the sweep, for people and programs to read: a member "description".
std::string SweepFileText(const SweepFile& file, const Value& description = {});
// Kind "sweep": the file is not there, or is none. Members that are not known are left alone.
Result<SweepFile> ReadSweepFile(const std::string& sweep_dir);

}  // namespace muster
