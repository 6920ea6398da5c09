#include "run/directory/run_directory.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/host_name.h"
#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "spawn/start/account_names.h"
#include "wire/files/run_layout.h"

namespace muster {

bool IsOwn(uid_t owner) { return owner == ::geteuid(); }

std::optional<uid_t> OwnerOf(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return std::nullopt;
  return status.st_uid;
}

bool MayBeMeant(uid_t owner, DirectoryUse use) { return use == DirectoryUse::kRead || IsOwn(owner); }

Result<void> CheckUse(const std::string& directory, uid_t owner, DirectoryUse use, std::string_view noun) {
  if (IsOwn(owner) || use == DirectoryUse::kRead || use == DirectoryUse::kExecute) return {};
  if (use == DirectoryUse::kControl && ::geteuid() == 0) return {};
  const std::string user = UserName(owner);
  const std::string what = fmt::format("the {} {} belongs to {}", noun, Quoted(directory), user);
  if (use == DirectoryUse::kControl) {
    return Fail(Error("owner", {}, fmt::format("{}: only {} and root can stop, dump or clean it", what, user),
                      "muster report and muster logs read it"));
  }
  return Fail(Error("owner", {}, fmt::format("{}: only {} can change it", what, user),
                    noun == "run" ? "muster replay " + ShellQuoted(directory) + " starts its plan as a run of your own"
                                  : "muster ls and muster show read it"));
}

namespace {

constexpr std::size_t kMaxFolderName = 64;

tl::unexpected<Diagnostics> CannotUse(std::string_view what, const std::string& path, int error) {
  Diagnostic cannot = SystemError("run_dir", fmt::format("{} {}", what, Quoted(path)), error);
  const std::string parent = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (error == ENOENT && !parent.empty() && !std::filesystem::exists(parent, ignored)) {
    cannot = MachineError("run_dir", fmt::format("{} {}: there is no folder {}", what, Quoted(path), Quoted(parent)),
                          "mkdir -p " + ShellQuoted(parent));
  } else if (error == EACCES || error == EROFS || error == EPERM || error == ENOSPC) {
    cannot.hint = "another place: MUSTER_HOME=FOLDER for all runs and sweeps, or --run-dir FOLDER for one run";
  }
  return Fail(std::move(cannot));
}

// The text of the lock file, for the message of a process that does not get the lock: one line, made safe.
std::string Holder(int lock) {
  constexpr std::size_t kMaxText = 512;
  const std::string text = BytesAt(lock, 0, kMaxText);
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  return line.empty() ? "another muster" : Printable(line);
}

// Whether the lock file names a process of this host that no longer exists.
bool HolderIsGone(int lock) {
  int pid = 0;
  char host[256];
  if (std::sscanf(Holder(lock).c_str(), "pid %d on %255s since", &pid, host) != 2 || pid <= 0) return false;
  return OwnHostName() == host && ::access(fmt::format("/proc/{}", pid).c_str(), F_OK) != 0;
}

bool IsOfOtherHost(int lock) {
  int pid = 0;
  char host[256];
  return std::sscanf(Holder(lock).c_str(), "pid %d on %255s since", &pid, host) == 2 && OwnHostName() != host;
}

// Takes the lock, or returns false with errno. If a killed holder had forked a child, that child shares the lock until
// it closes its inherited descriptors or exits. TakeLock waits for that by polling, since a blocking flock(2) has no
// timeout.
bool TakeLock(int lock) {
  constexpr int kTries = 200;
  constexpr timespec kPause = {0, 10'000'000};
  for (int tried = 0;; ++tried) {
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    if (tried >= kTries || !HolderIsGone(lock)) break;
    ::nanosleep(&kPause, nullptr);
  }
  errno = EWOULDBLOCK;
  return false;
}

// Whether the folder contains anything besides the lock.
bool HoldsSomething(const std::string& path) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != kLockEntry.name) return true;
  }
  return bool{error};
}

}  // namespace

Result<RunDirectory> RunDirectory::Lock(UniqueFd folder, const std::string& shown, const DirectoryKind& kind) {
  RunDirectory made;
  made.folder_ = std::move(folder);
  struct stat status {};
  if (::fstat(made.folder_.get(), &status) != 0) return CannotUse("cannot look at", shown, errno);
  if (!IsOwn(status.st_uid)) {
    return Fail(MachineError("run_dir", fmt::format("the folder {} belongs to {}: a {} needs one of your own",
                                                    Quoted(shown), UserName(status.st_uid), kind.noun)));
  }

  made.lock_ = UniqueFd(::openat(made.folder_.get(), kLockEntry.name,
                                 O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!made.lock_ || ::fstat(made.lock_.get(), &status) != 0) return CannotUse("cannot lock", shown, errno);
  if (!S_ISREG(status.st_mode)) return CannotUse("cannot lock", shown, EINVAL);
  if (!TakeLock(made.lock_.get())) {
    if (errno != EWOULDBLOCK) return CannotUse("cannot lock", shown, errno);
    Diagnostic busy = MachineError(
        "run_dir",
        fmt::format("the {} directory {} is in use by {}", kind.noun, Quoted(shown), Holder(made.lock_.get())),
        kind.elsewhere);
    busy.blame = Blame::kBusy;
    return Fail(std::move(busy));
  }
  char path[PATH_MAX];
  const ssize_t length = ::readlink(fmt::format("/proc/self/fd/{}", made.folder_.get()).c_str(), path, sizeof path);
  if (length <= 0 || path[0] != '/') return CannotUse("cannot find", shown, length < 0 ? errno : ENOENT);
  made.path_.assign(path, static_cast<std::size_t>(length));
  return made;
}

Result<void> RunDirectory::WriteHolder(const std::string& shown) {
  struct stat status {};
  const std::string holder = fmt::format("pid {} on {} since {}\n", ::getpid(), OwnHostName(), UtcText(WallNowNs()));
  // Only if the file is not empty: file systems flush a truncated file to disk when it is closed.
  const bool empty = ::fstat(lock_.get(), &status) == 0 && status.st_size == 0;
  if (!empty && ::ftruncate(lock_.get(), 0) != 0) return CannotUse("cannot lock", shown, errno);
  if (const int failed = WriteAll(lock_.get(), holder)) return CannotUse("cannot lock", shown, failed);
  return {};
}

Result<RunDirectory> RunDirectory::HoldAgain(const std::string& folder, const DirectoryKind& kind) {
  UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return CannotUse("cannot open", folder, errno);
  Result<RunDirectory> made = Lock(std::move(opened), folder, kind);
  if (!made) return made;
  if (auto reported = made->WriteHolder(folder); !reported) return Fail(reported.error());
  return made;
}

Result<RunDirectory> RunDirectory::Hold(UniqueFd folder, const std::string& shown, bool for_group,
                                        const DirectoryKind& kind, bool fresh) {
  Result<RunDirectory> locked = Lock(std::move(folder), shown, kind);
  if (!locked) return locked;
  RunDirectory& made = *locked;
  if (!fresh && HoldsSomething(made.path_)) {
    return Fail(Error("run_dir", {},
                      fmt::format("the folder {} is not empty: a {} needs one of its own", Quoted(shown), kind.noun),
                      "name a new folder, or leave --run-dir out"));
  }
  if (!SetMode(made.folder_.get(), for_group ? kGroupFolderMode : 0700) ||
      !SetMode(made.lock_.get(), for_group ? 0640 : 0600)) {
    return CannotUse("cannot lock", shown, errno);
  }
  if (auto reported = made.WriteHolder(shown); !reported) return Fail(reported.error());
  // Files for processes may contain secrets: only the owner can read these two folders and what is created in them.
  for (const RunEntry& entry : RunEntries()) {
    const char* const name = entry.name;
    const bool kept =
        !for_group || !entry.of_owner ||
        (::mkdirat(made.folder_.get(), name, 0700) == 0 && ::fchmodat(made.folder_.get(), name, 0700, 0) == 0);
    if (!kept) return CannotUse("cannot make", shown + "/" + name, errno);
  }
  return locked;
}

Result<RunDirectory> RunDirectory::MakeAt(const std::string& folder, bool for_group, const DirectoryKind& kind) {
  const bool fresh = ::mkdir(folder.c_str(), 0700) == 0;
  if (!fresh && errno != EEXIST) return CannotUse("cannot make", folder, errno);
  UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return CannotUse("cannot open", folder, errno);
  return Hold(std::move(opened), folder, for_group, kind, fresh);
}

namespace {

// A folder in which run directories are created must belong to the caller or root, because its owner can replace them.
// A folder for a group may belong to a member if it is sticky, so that no other member can.
Result<void> CheckKeeper(int folder, const std::string& shown, bool for_group) {
  struct stat status {};
  if (::fstat(folder, &status) != 0) return CannotUse("cannot look at", shown, errno);
  const bool shared = for_group && IsForGroup(status.st_mode) && (status.st_mode & (S_IWGRP | S_IWOTH)) == S_IWGRP;
  if (IsOwn(status.st_uid)) {
    // A folder of an older release, which did not set these modes.
    if (!shared || SetMode(folder, (status.st_mode & 07777) | S_ISVTX)) return {};
    return CannotUse("cannot make", shown, errno);
  }
  const bool sticky = (status.st_mode & S_ISVTX) != 0;
  if (status.st_uid == 0 || (shared && sticky)) return {};
  const std::string user = UserName(status.st_uid);
  return Fail(MachineError(
      "run_dir",
      fmt::format("the folder {} belongs to {}, and run directories in it could be replaced", Quoted(shown), user),
      shared ? fmt::format("as {}: chmod +t {}", user, ShellQuoted(shown))
             : "set MUSTER_HOME to a folder of your own, or name a run directory with --run-dir"));
}

// Makes a folder for runs of the group. It gets its name with its mode, since another member may be about to use it.
// False with errno: EEXIST if there is one already.
bool MakeSharedFolder(int at, const std::string& path, std::string_view run_id) {
  if (::faccessat(at, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  const std::size_t last = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  const std::string draft = fmt::format("{}.new-{}", path.substr(0, last), run_id);
  if (::mkdirat(at, draft.c_str(), 0700) != 0) return false;
  bool made = ::fchmodat(at, draft.c_str(), kSharedFolderMode, 0) == 0 &&
              ::renameat2(at, draft.c_str(), at, path.c_str(), RENAME_NOREPLACE) == 0;
  int error = made ? 0 : errno;
  if (!made) ::unlinkat(at, draft.c_str(), AT_REMOVEDIR);
  if (error == EINVAL || error == ENOSYS) {  // a file system that cannot refuse to replace
    made = ::mkdirat(at, path.c_str(), 0700) == 0 && ::fchmodat(at, path.c_str(), kSharedFolderMode, 0) == 0;
    error = errno;
  }
  errno = error;
  return made;
}

// For a link, its owner matters.
Result<void> CheckLink(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return {};
  if (IsOwn(status.st_uid) || status.st_uid == 0) return {};
  return Fail(MachineError("run_dir", fmt::format("{} is a link of {}", Quoted(path), UserName(status.st_uid)),
                           "set MUSTER_HOME to a folder of your own, or name a run directory with --run-dir"));
}

}  // namespace

Result<RunDirectory> RunDirectory::MakeBelow(const std::string& runs_folder, std::string_view name,
                                             std::string_view stamp, std::string_view run_id, bool for_group,
                                             const DirectoryKind& kind) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(runs_folder).parent_path(), error);
  if (error) return CannotUse("cannot make", runs_folder, error.value());
  const bool fresh =
      for_group ? MakeSharedFolder(AT_FDCWD, runs_folder, run_id) : ::mkdir(runs_folder.c_str(), 0700) == 0;
  if (!fresh && errno != EEXIST) return CannotUse("cannot make", runs_folder, errno);
  if (auto own = CheckLink(runs_folder); !own) return Fail(own.error());
  const UniqueFd runs(::open(runs_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!runs) return CannotUse("cannot open", runs_folder, errno);

  if (auto kept = CheckKeeper(runs.get(), runs_folder, for_group); !kept) return Fail(kept.error());
  const std::string folder = FolderName(name);
  if (for_group && !MakeSharedFolder(runs.get(), folder, run_id) && errno != EEXIST) {
    return CannotUse("cannot make", runs_folder + "/" + folder, errno);
  }
  Result<UniqueFd> of_name = MakeFolder(runs.get(), folder);
  if (!of_name) return Fail(std::move(of_name.error()));
  if (auto kept = CheckKeeper(of_name->get(), runs_folder + "/" + folder, for_group); !kept) return Fail(kept.error());
  const std::string leaf = fmt::format("{}-{}", stamp, run_id);
  const std::string shown = fmt::format("{}/{}/{}", runs_folder, folder, leaf);
  if (::mkdirat(of_name->get(), leaf.c_str(), 0700) != 0) return CannotUse("cannot make", shown, errno);
  Result<UniqueFd> opened = OpenFolder(of_name->get(), leaf);
  if (!opened) return Fail(std::move(opened.error()));
  Result<RunDirectory> made = Hold(std::move(*opened), shown, for_group, kind, true);
  if (!made) return made;

  // A convenience for users: no code reads it, so a failure does not fail the run.
  const std::string draft = fmt::format(".latest-{}", run_id);
  if (::symlinkat(leaf.c_str(), of_name->get(), draft.c_str()) == 0 &&
      ::renameat(of_name->get(), draft.c_str(), of_name->get(), "latest") != 0) {
    ::unlinkat(of_name->get(), draft.c_str(), 0);
  }
  return made;
}

std::vector<std::string> ClosedToGroup(const std::string& runs_folder, std::string_view name) {
  std::vector<std::string> closed;
  for (const std::string& folder : {runs_folder, runs_folder + "/" + FolderName(name)}) {
    struct stat status {};
    const bool own = ::stat(folder.c_str(), &status) == 0 && IsOwn(status.st_uid);
    if (own && !IsForGroup(status.st_mode)) closed.push_back(folder);
  }
  return closed;
}

std::string FolderName(std::string_view name) {
  std::string folder(name.substr(0, kMaxFolderName));
  for (char& c : folder) {
    const bool fit = IsLetterOrDigit(c) || c == '.' || c == '-' || c == '_';
    if (!fit) c = '_';
  }
  if (folder.empty()) return "_";
  if (folder.front() == '.' || folder.front() == '-') folder.front() = '_';
  return folder;
}

std::string RunsFolder(const std::string& cwd, std::string_view muster_home) {
  return muster_home.empty() ? cwd + "/runs" : std::string(muster_home) + "/runs";
}

namespace {

UniqueFd OpenLock(const std::string& run_dir) {
  // Only directories that have a journal are tested: otherwise taking the lock for the test could interfere with a
  // muster process that is just starting there.
  struct stat status {};
  if (::stat(kJournalEntry.In(run_dir).c_str(), &status) != 0) return {};
  return UniqueFd(::open(kLockEntry.In(run_dir).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

bool IsRunLive(const std::string& run_dir) {
  const UniqueFd lock = OpenLock(run_dir);
  return lock && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::string HolderOf(const std::string& run_dir) {
  const UniqueFd lock = OpenLock(run_dir);
  return lock ? Holder(lock.get()) : "nobody";
}

bool IsHeldElsewhere(const std::string& run_dir) {
  const UniqueFd lock = OpenLock(run_dir);
  return lock && IsOfOtherHost(lock.get()) && IsRunLive(run_dir);
}

void AwaitRunOver(const std::string& run_dir) {
  const UniqueFd lock = OpenLock(run_dir);
  while (lock && ::flock(lock.get(), LOCK_SH) != 0 && errno == EINTR) {
  }
}

// Lists runs and finds the folder for a RUN argument: RunsBelow and ResolveRun of run_directory.h.

namespace {

namespace fs = std::filesystem;

bool IsOne(const fs::path& folder, const DirectoryKind& kind, struct stat& marker) {
  return ::stat((folder / kind.marker).c_str(), &marker) == 0 && S_ISREG(marker.st_mode);
}

bool HasBegun(const fs::path& folder) {
  struct stat status {};
  for (const char* const file : {kJournalEntry.name, kJobEntry.name}) {
    if (::stat((folder / file).c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) return true;
  }
  return false;
}

// Folders below `folder`, links not followed; empty if it cannot be read.
std::vector<fs::path> Folders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_symlink(ignored) && it->is_directory(ignored)) found.push_back(it->path());
  }
  return found;
}

// "gpt~2" -> ("gpt", 2).
std::optional<std::pair<std::string, std::size_t>> NameAndAge(std::string_view run) {
  const std::size_t tilde = run.rfind('~');
  if (tilde == std::string_view::npos) return std::pair{std::string(run), std::size_t{0}};
  const auto age = ParseNumber<std::size_t>(run.substr(tilde + 1));
  if (!age) return std::nullopt;
  return std::pair{std::string(run.substr(0, tilde)), *age};
}

Result<std::string> Missing(const DirectoryKind& kind, std::string message, std::string hint) {
  return Fail(Error(kind.noun, {}, std::move(message), std::move(hint)));
}

Result<std::string> NotOwn(const DirectoryKind& kind, std::string message, const FoundRun& foreign) {
  return Missing(
      kind, std::move(message),
      fmt::format("{} belongs to {}: give its path to use it", ShellQuoted(foreign.path), UserName(foreign.owner)));
}

// The runs that a name may refer to.
std::vector<FoundRun> Meant(std::vector<FoundRun> runs, DirectoryUse use) {
  std::erase_if(runs, [use](const FoundRun& one) { return !one.begun || !MayBeMeant(one.owner, use); });
  return runs;
}

}  // namespace

void DiscardDirectory(const std::string& run_dir, const DirectoryKind& kind) {
  std::error_code error;
  const fs::path folder(run_dir);
  fs::remove_all(folder, error);
  const fs::path latest = folder.parent_path() / "latest";
  if (fs::read_symlink(latest, error) != folder.filename() || error) return;
  std::optional<std::pair<std::int64_t, fs::path>> newest;
  for (const fs::path& other : Folders(folder.parent_path())) {
    struct stat marker {};
    if (!IsOne(other, kind, marker) || !HasBegun(other)) continue;
    const std::int64_t made = std::int64_t{marker.st_mtim.tv_sec} * 1'000'000'000 + marker.st_mtim.tv_nsec;
    if (!newest || made > newest->first) newest = {made, other.filename()};
  }
  if (!newest) {
    fs::remove(latest, error);
    return;
  }
  const fs::path draft = folder.parent_path() / (".latest-" + folder.filename().string());
  fs::create_symlink(newest->second, draft, error);
  if (!error) fs::rename(draft, latest, error);
}

Result<void> RedirectToHeadLog(int folder, int descriptor) {
  const auto log = OpenOrCreateFile(folder, kHeadLogEntry.name);  // it may be that of an earlier head
  if (!log) return Fail(log.error());
  if (::fcntl(log->get(), F_SETFL, O_APPEND) == 0 && ::dup2(log->get(), descriptor) >= 0) return {};
  return Fail(SystemError("file", kHeadLogEntry.name, errno));
}

std::vector<FoundRun> RunsBelow(const std::string& runs_folder, const DirectoryKind& kind) {
  std::vector<FoundRun> runs;
  for (const fs::path& of_name : Folders(runs_folder)) {
    for (const fs::path& folder : Folders(of_name)) {
      const std::string leaf = folder.filename().string();
      const std::size_t dash = leaf.rfind('-');
      struct stat marker {};
      const auto owner = OwnerOf(folder.string());
      if (dash == std::string::npos || !owner || !IsOne(folder, kind, marker)) continue;
      runs.push_back({of_name.filename().string(), leaf.substr(0, dash), leaf.substr(dash + 1), folder.string(),
                      std::int64_t{marker.st_mtim.tv_sec} * 1'000'000'000 + marker.st_mtim.tv_nsec, *owner,
                      HasBegun(folder)});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const FoundRun& a, const FoundRun& b) { return a.Age() < b.Age(); });
  return runs;
}

Result<std::string> ResolveRun(std::string_view run, const std::string& runs_folder, const DirectoryKind& kind,
                               DirectoryUse use) {
  struct stat marker {};
  const std::string as_path(run);
  const bool is_path = run.find('/') != std::string_view::npos;
  const auto owner = run.empty() ? std::nullopt : OwnerOf(as_path);
  if (owner && IsOne(as_path, kind, marker) && (is_path || MayBeMeant(*owner, use))) {
    if (auto allowed = CheckUse(as_path, *owner, use, kind.noun); !allowed) return Fail(allowed.error());
    return as_path;
  }
  if (is_path) {
    return Missing(kind, fmt::format("{} is not a {} directory", Quoted(run), kind.noun),
                   fmt::format("a {} directory holds {}", kind.noun, kind.marker));
  }

  std::vector<FoundRun> all = RunsBelow(runs_folder, kind);
  std::erase_if(all, [](const FoundRun& one) { return !one.begun; });
  const std::vector<FoundRun> runs = Meant(all, use);
  if (runs.empty() && !all.empty()) {
    return NotOwn(kind, fmt::format("none of the {}s in {} is yours", kind.noun, Quoted(runs_folder)), all.back());
  }
  if (runs.empty()) {
    return Missing(kind, fmt::format("there are no {}s in {}", kind.noun, Quoted(runs_folder)), kind.started);
  }
  if (const auto wanted = NameAndAge(run)) {
    const auto& [name, age] = *wanted;
    std::vector<const FoundRun*> of_name;
    for (const FoundRun& found : runs) {
      if (name.empty() || found.name == name) of_name.push_back(&found);
    }
    if (age < of_name.size()) return of_name[of_name.size() - 1 - age]->path;
    if (!of_name.empty()) {
      return Missing(kind, fmt::format("{} goes back too far", Quoted(run)),
                     fmt::format("there are {}", of_name.size()));
    }
  }
  constexpr std::size_t kMinPrefix = 4;
  std::vector<const FoundRun*> matches;
  for (const FoundRun& found : runs) {
    if (run.size() >= kMinPrefix && found.id.starts_with(run)) matches.push_back(&found);
  }
  if (matches.size() == 1) return matches.front()->path;
  const auto foreign = std::find_if(all.rbegin(), all.rend(), [&](const FoundRun& found) {
    return found.name == run || (run.size() >= kMinPrefix && found.id.starts_with(run));
  });
  if (matches.empty() && foreign != all.rend()) {
    return NotOwn(kind, fmt::format("no {} {} in {} is yours", kind.noun, Quoted(run), Quoted(runs_folder)), *foreign);
  }
  std::vector<std::string> known;
  for (const FoundRun* match : matches) known.push_back(match->id);
  if (!known.empty()) {
    return Missing(kind, fmt::format("{} begins {} ids", Quoted(run), known.size()),
                   fmt::format("{}, …", known.front()));
  }
  for (const FoundRun& found : runs) {
    if (std::find(known.begin(), known.end(), found.name) == known.end()) known.push_back(found.name);
  }
  std::sort(known.begin(), known.end());
  return Missing(kind, fmt::format("there is no {} {} in {}", kind.noun, Quoted(run), Quoted(runs_folder)),
                 DidYouMean(run, known));
}

}  // namespace muster
