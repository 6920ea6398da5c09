// The run directory: where it is created, whose it is and what the current user may do with it, which process holds
// its lock, how runs are listed, and how a RUN argument finds one. docs/run_directory.md describes its contents.
// Depends on folders and locks only; reads no journal and no plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <sys/types.h>

#include "base/system/private_files.h"
#include "muster/result.h"
#include "wire/files/run_layout.h"

namespace muster {

// Determines the owner of a run or sweep directory, and what the current user may do with it: one rule for all
// commands.
//
// Users may do everything with directories that they own. A directory of another user may be shared on purpose (access
// = "group") and is read only: muster writes, resumes, stops or signals nothing in it. Its plan or recipe is executed
// only if the user gives its path, never because a name, or "the newest", leads to it.

enum class DirectoryUse : std::uint8_t {
  kRead,     // show its files
  kExecute,  // execute its plan or recipe, in a new directory
  kControl,  // send requests to its head, or kill processes that it left: allowed for root, too
  kWrite,    // change files in it, or remove it
};

bool IsOwn(uid_t owner);

// The owner of the directory at the path, with links followed; empty if there is none.
std::optional<uid_t> OwnerOf(const std::string& directory);

// Whether a name, an id or an omitted RUN argument may refer to a directory of that owner.
bool MayBeMeant(uid_t owner, DirectoryUse use);

// Checks whether a directory that was given by its path may be used in this way. `noun` is "run" or "sweep". Kind
// "owner", with the owner's name.
Result<void> CheckUse(const std::string& directory, uid_t owner, DirectoryUse use, std::string_view noun);

// The run directory: where it is created, which process holds its lock, and how a RUN argument finds it.
// docs/run_directory.md describes its contents.
//
// Depends on folders and locks only; reads no journal and no plan.

// The kind of a directory: run, or sweep (sweep/record/sweep_directory.h).
struct DirectoryKind {
  const char* noun;       // "run"
  const char* marker;     // a file that each of them contains
  const char* started;    // how to create one, for hints
  const char* elsewhere;  // how to choose another folder, for hints
};
inline constexpr DirectoryKind kRunDirectories = {"run", kPlanEntry.name,
                                                  "start one with muster run, or name its folder",
                                                  "wait for it to end, or choose another folder with --run-dir"};

// A run directory whose lock this process holds: the head, while the run lasts.
class RunDirectory {
 public:
  // Uses `folder` itself (--run-dir): created if it does not exist; its parent must exist. It must belong to the caller
  // and be empty. Blame::kBusy, with the holder, if another muster process holds it; Blame::kRecipe, kind "run_dir", if
  // it is not empty.
  static Result<RunDirectory> MakeAt(const std::string& folder, bool for_group = false,
                                     const DirectoryKind& kind = kRunDirectories);
  // Creates `runs_folder`/<name>/<stamp>-<run_id> and points the link `latest` beside it to it. FolderName turns the
  // name into a valid file name. `runs_folder` and the folder of the name must belong to the caller or root. With
  // `for_group` the group of `runs_folder` may read the directory, except the folders context/ and files/, which may
  // hold secrets; members of the group keep their runs side by side there, in sticky folders that one of them created
  // (kSharedFolderMode).
  static Result<RunDirectory> MakeBelow(const std::string& runs_folder, std::string_view name, std::string_view stamp,
                                        std::string_view run_id, bool for_group = false,
                                        const DirectoryKind& kind = kRunDirectories);
  // Takes the lock of an existing directory, whatever it contains.
  static Result<RunDirectory> HoldAgain(const std::string& folder, const DirectoryKind& kind);

  const std::string& path() const { return path_; }  // absolute, links resolved
  int folder() const { return folder_.get(); }

 private:
  static Result<RunDirectory> Lock(UniqueFd folder, const std::string& shown, const DirectoryKind& kind);
  // Writes a description of the holder for other processes.
  Result<void> WriteHolder(const std::string& shown);
  // `fresh`: the directory was created just now, and is empty.
  static Result<RunDirectory> Hold(UniqueFd folder, const std::string& shown, bool for_group, const DirectoryKind& kind,
                                   bool fresh);

  std::string path_;
  UniqueFd folder_;
  UniqueFd lock_;
};

// Those of `runs_folder` and the folder of the name in it that exist, belong to the caller and exclude the group,
// whatever the modes of the runs in them.
std::vector<std::string> ClosedToGroup(const std::string& runs_folder, std::string_view name);

// The name with all characters except [A-Za-z0-9._-] replaced by "_", no leading dot or hyphen, 1 to 64 characters.
std::string FolderName(std::string_view name);

// The folder for runs: below $MUSTER_HOME (its value, may be empty) or else below `cwd`.
std::string RunsFolder(const std::string& cwd, std::string_view muster_home);

// A run directory below a runs folder, as described by its path.
struct FoundRun {
  std::string name;   // of the folder that contains all runs of that name
  std::string stamp;  // "20261120-120616"
  std::string id;
  std::string path;
  std::int64_t made_ns = 0;  // wall clock time at which its plan was written: orders runs of the same second
  uid_t owner = 0;
  // Whether it has a journal, or is submitted as a job: otherwise it was left before its beginning, and is not meant by
  // any name.
  bool begun = true;

  auto Age() const { return std::tie(stamp, made_ns, id); }
};

// Removes a directory that a command made and could not use, and points the link `latest` beside it to the newest of
// the remaining ones, or removes the link.
void DiscardDirectory(const std::string& run_dir, const DirectoryKind& kind = kRunDirectories);

// Lets everything that is written to the descriptor go to the end of head.log in the folder.
Result<void> RedirectToHeadLog(int folder, int descriptor);

// All run directories, oldest first; links are not followed. Empty if the folder cannot be read.
std::vector<FoundRun> RunsBelow(const std::string& runs_folder, const DirectoryKind& kind = kRunDirectories);

// The folder that the RUN argument names: a path, a name (its newest run), name~N (the Nth before it), ~N (among all
// runs), a prefix of an id (at least 4 characters), or, if empty, the newest of all. For uses other than kRead
// everything but a path refers to the user's own runs, and an argument without a slash is a path only if it leads to
// the user's own directory. Kind "run" with a hint if there is none, or more than one for a prefix; kind "owner"
// (CheckUse).
Result<std::string> ResolveRun(std::string_view run, const std::string& runs_folder,
                               const DirectoryKind& kind = kRunDirectories, DirectoryUse use = DirectoryUse::kRead);

// Whether a muster process holds the lock of the directory at this moment.
bool IsRunLive(const std::string& run_dir);

// The current or last holder of the lock, safe for a terminal: "pid 4711 on node-1 since …".
std::string HolderOf(const std::string& run_dir);

// Whether a muster process on another host holds the lock: what it writes is reported by no kernel of this host.
bool IsHeldElsewhere(const std::string& run_dir);

// Waits until no muster process holds the lock. Blocks without polling.
void AwaitRunOver(const std::string& run_dir);

}  // namespace muster
