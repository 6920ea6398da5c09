// The directory of a sweep: its path, its files except journal and index, and how a SWEEP argument is resolved.
//
//   sweeps/<name>/<time>-<id>/   sweep.json  recipe/  journal.jsonl  index.sqlite  lock  t/…
//
// Created and locked like a run directory (run/directory/run_directory.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/run_directory.h"
#include "space/sweep_description.h"
#include "wire/files/run_layout.h"

namespace muster {

inline constexpr RunEntry kSweepEntry = {.name = "sweep.json", .most = std::size_t{16} << 20};
inline constexpr RunEntry kIndexEntry = {.name = "index.sqlite"};
inline constexpr RunEntry kAllocationsEntry = {.name = "jobs", .most = std::size_t{1} << 20};
inline constexpr RunEntry kEditEntry = {.name = "edit", .most = std::size_t{64} << 20, .packing = Packing::kNever};
inline constexpr RunEntry kTrialsEntry = {.name = "t", .folder = true};
// All of them, in the order in which docs/sweeps.md describes them; the others are as in a run directory.
inline constexpr std::array kSweepEntries = {
    kSweepEntry, kRecipeEntry, kInputsEntry,        kJournalEntry,     kPythonEntry, kIndexEntry,     kTagsEntry,
    kNoteEntry,  kLockEntry,   kControlEntry,       kHeadLogEntry,     kJobEntry,    kJobScriptEntry, kJobOutputEntry,
    kJobIdEntry, kJobEndEntry, kNotificationsEntry, kAllocationsEntry, kEditEntry,   kTrialsEntry};

inline constexpr DirectoryKind kSweepDirectories = {
    "sweep", kSweepEntry.name, "start one with muster sweep, or name its folder",
    "see muster ls; wait for it to end, or stop it with ctrl-c where it runs"};

// The folder of all sweeps: below $MUSTER_HOME (its value, may be empty), else below `cwd`.
std::string SweepsFolder(const std::string& cwd, std::string_view muster_home);

// Creates and locks a new one below `sweeps_folder`; errors with Blame::kBusy as for RunDirectory.
Result<RunDirectory> MakeSweepDirectory(const std::string& sweeps_folder, std::string_view name, std::string_view stamp,
                                        std::string_view sweep_id, bool for_group = false);
// Locks the directory of a sweep that is resumed.
Result<RunDirectory> HoldSweepDirectory(const std::string& sweep_dir);

// The folder named by SWEEP, in the same forms as RUN: a path, a name, name~N, ~N, a prefix of an id, or, if empty, the
// newest. Kind "sweep".
Result<std::string> ResolveSweep(std::string_view sweep, const std::string& sweeps_folder,
                                 DirectoryUse use = DirectoryUse::kRead);

// "t/3f/3f9a1c2b4d5e6f70.0": the run directory of an attempt, below the sweep's directory. The path is valid for any id
// in a journal: characters that are not hex digits become "_".
std::string TrialFolder(std::string_view id, std::uint32_t attempt);

// sweep.json: the facts about a sweep that can be read without its recipe.
struct SweepFile {
  std::string sweep_id;
  std::string name;
  std::string doc;
  std::optional<Objective> objective;
  std::optional<Objective> second_objective = {};  // read from the description; SweepFileText does not write it
  std::vector<std::string> names;                  // swept, sorted
  std::uint64_t trials = 0;                        // number of trials of the sampler
  std::vector<std::string> words;                  // of the command line, after "muster"
  std::string cwd;                                 // of the command
  // Trials at once, read from the description; 0: the budget has no limit. SweepFileText does not write it.
  std::uint64_t slots = 0;
  // The metric that counts the progress of a trial, likewise; empty without early stopping.
  std::string resource = {};
  // The patterns for logs, and the role whose log is read, likewise.
  MetricsChoice metrics = {};
  // The budget, likewise.
  BudgetChoice budget = {};
  std::map<std::string, std::string> former_names = {};  // of swept parameters: name -> the name that it had before

  bool operator==(const SweepFile&) const = default;
};

// The text of sweep.json; `description` becomes the member "description", for people and other programs.
// The schema (wire/archive/json_schema.h) of sweep.json.
std::string SweepFileSchema();
std::string SweepFileText(const SweepFile& file, const Value& description = {});
// Such a text, which is not trusted; the description without the points of an edited sweep. Kind "sweep".
Result<std::pair<SweepFile, SweepDescription>> ParseSweepFile(const std::string& text, const std::string& sweep_dir);
// Kind "sweep": the file is missing or invalid. Unknown members are ignored.
Result<SweepFile> ReadSweepFile(const std::string& sweep_dir);
// The description in it; of an edited sweep with the points of its trials until then, which are in its journal.
Result<SweepDescription> ReadSweepDescription(const std::string& sweep_dir);

}  // namespace muster
