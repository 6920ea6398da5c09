// The run directory: where it is, who holds it, and how a RUN argument finds one. What it holds is told in
// docs/run_directory.md.
//
// Knows folders and locks; reads no journal and no plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "muster/result.h"
#include "run/directory/directory_owner.h"
#include "run/directory/private_files.h"

namespace muster {

// What such a folder is of: a sweep has one, too (sweep/record/sweep_directory.h).
struct DirectoryKind {
  const char* noun;       // "run"
  const char* marker;     // a file that each of them holds
  const char* started;    // how one comes to be, for hints
  const char* elsewhere;  // how another folder is chosen
};
inline constexpr DirectoryKind kRunDirectories = {"run", "plan.json", "start one with muster run, or name its folder",
                                                  "wait for it to end, or choose another folder with --run-dir"};

// Held by the head for as long as the run lasts.
class RunDirectory {
 public:
  // `folder` itself (--run-dir): made if it is not there, its parent must be. It must be the caller's own and
  // hold nothing. Blame::kBusy, naming the holder, if another muster is at it; Blame::kRecipe, kind
  // "run_dir", if it holds something.
  static Result<RunDirectory> MakeAt(const std::string& folder, bool for_group = false,
                                     const DirectoryKind& kind = kRunDirectories);
  // `runs_folder`/<name>/<stamp>-<run_id>, with `latest` beside it pointing to it. The name is made fit for a
  // path by FolderName. `runs_folder` and the folder of the name are the caller's or root's. `for_group`: the group of
  // `runs_folder` may read what is in it, but for the folders context/ and files/, which may hold secrets; its members
  // keep their runs side by side there, in folders that one of them made, sticky (kSharedFolderMode).
  static Result<RunDirectory> MakeBelow(const std::string& runs_folder, std::string_view name, std::string_view stamp,
                                        std::string_view run_id, bool for_group = false,
                                        const DirectoryKind& kind = kRunDirectories);
  // One that is there, whatever it holds.
  static Result<RunDirectory> HoldAgain(const std::string& folder, const DirectoryKind& kind);

  const std::string& path() const { return path_; }  // absolute, links resolved
  int folder() const { return folder_.get(); }

 private:
  static Result<RunDirectory> Lock(UniqueFd folder, const std::string& shown, const DirectoryKind& kind);
  // For others to read: who holds it.
  Result<void> WriteHolder(const std::string& shown);
  // `fresh`: it was made just now, and holds nothing.
  static Result<RunDirectory> Hold(UniqueFd folder, const std::string& shown, bool for_group, const DirectoryKind& kind,
                                   bool fresh);

  std::string path_;
  UniqueFd folder_;
  UniqueFd lock_;
};

// Of `runs_folder` and the folder of the name in it those that are there, are the caller's own and keep the group out,
// whatever the modes of runs in them.
std::vector<std::string> ClosedToGroup(const std::string& runs_folder, std::string_view name);

// The name with everything but [A-Za-z0-9._-] made "_", no dot or hyphen in front, 1 to 64 characters.
std::string FolderName(std::string_view name);

// Where runs are kept: below $MUSTER_HOME (its value, may be empty) or else below `cwd`.
std::string RunsFolder(const std::string& cwd, std::string_view muster_home);

// A run directory below a runs folder, as its path tells.
struct FoundRun {
  std::string name;   // of the folder of all runs of that name
  std::string stamp;  // "20261120-120616"
  std::string id;
  std::string path;
  std::int64_t made_ns = 0;  // wall clock, when its plan was written: orders runs of one second
  uid_t owner = 0;

  auto Age() const { return std::tie(stamp, made_ns, id); }
};

// All of them, oldest first; links are not followed. None if the folder cannot be read.
std::vector<FoundRun> RunsBelow(const std::string& runs_folder, const DirectoryKind& kind = kRunDirectories);

// The folder that RUN names: a path, a name (its newest run), name~N (the Nth before it), ~N (of all), a
// prefix of an id (at least 4 characters), or, left out, the newest of all. For a use that is not kRead all but a path
// mean one's own runs, and a path is one only with a slash in it, unless it leads to one's own. Kind "run" with a hint
// if there is none, or more than one for a prefix; "owner" (CheckUse).
Result<std::string> ResolveRun(std::string_view run, const std::string& runs_folder,
                               const DirectoryKind& kind = kRunDirectories, DirectoryUse use = DirectoryUse::kRead);

// Whether a muster holds the directory at this moment.
bool IsRunLive(const std::string& run_dir);

// Who holds it, or held it last, safe for a terminal: "pid 4711 on node-1 since …".
std::string HolderOf(const std::string& run_dir);

// Waits until no muster holds the directory any more. Blocks, and polls nothing.
void AwaitRunOver(const std::string& run_dir);

}  // namespace muster
