#include "run/directory/runtime_directory.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/own_process.h"
#include "base/system/private_files.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "run/directory/run_directory.h"
#include "spawn/start/account_names.h"

namespace muster {
namespace {

bool IsOwnFolder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && IsOwn(status.st_uid);
}

struct Entry {
  std::string folder;
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot;
};

std::string EntryText(const Entry& entry) {
  return JsonText(Value(Value::Map{{"format", 1},
                                   {"folder", entry.folder},
                                   {"pid", entry.pid},
                                   {"start_ticks", static_cast<std::int64_t>(entry.start_ticks)},
                                   {"boot", entry.boot}})) +
         "\n";
}

std::optional<Entry> ReadEntry(int folder, const std::string& name) {
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !IsOwn(status.st_uid)) return std::nullopt;
  const auto text = ReadFileAt(folder, name, kMaxHeadEntry, O_NOFOLLOW);
  const auto json = text ? ValueFromJsonText(*text) : tl::make_unexpected(std::string());
  if (!json || NumberField(*json, "format") != 1) return std::nullopt;
  Entry entry;
  entry.folder = TextField(*json, "folder");
  entry.pid = NumberField(*json, "pid");
  entry.start_ticks = static_cast<std::uint64_t>(NumberField(*json, "start_ticks"));
  entry.boot = TextField(*json, "boot");
  if (!entry.folder.starts_with('/')) return std::nullopt;
  return entry;
}

bool ProcessLives(const Entry& entry) {
  return entry.pid > 0 && entry.start_ticks != 0 && entry.boot == BootId() &&
         StartTicksOf(static_cast<pid_t>(entry.pid)) == entry.start_ticks;
}

}  // namespace

UniqueFd OpenPrivate(const std::string& path) {
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool is_private = folder && ::fstat(folder.get(), &status) == 0 && IsOwn(status.st_uid) &&
                          (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  return is_private ? std::move(folder) : UniqueFd();
}

std::string LiveHeadsFolder(std::string_view runtime_dir) {
  if (runtime_dir.starts_with('/') && IsOwnFolder(std::string(runtime_dir)))
    return std::string(runtime_dir) + "/muster";
  const std::string of_user = fmt::format("/run/user/{}", ::geteuid());
  if (IsOwnFolder(of_user)) return of_user + "/muster";
  return fmt::format("/tmp/muster-{}", ::geteuid());
}

std::string OwnLiveHeadsFolder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return LiveHeadsFolder(runtime == nullptr ? "" : runtime);
}

LiveHead LiveHead::Announce(const std::string& heads_folder, const std::string& folder, const std::string& id) {
  LiveHead head;
  if (!IsUtf8(folder)) return head;  // JSON cannot hold it
  static_cast<void>(::mkdir(heads_folder.c_str(), 0700));
  const UniqueFd opened = OpenPrivate(heads_folder);
  if (!opened) return head;
  // No run and sweep have the same id; a head that resumes a sweep replaces the entry of a dead one.
  const std::string name = FolderName(id) + ".json";
  const std::string text = EntryText({folder, ::getpid(), OwnStartTicks(), BootId()});
  if (text.size() > kMaxHeadEntry || !ReplaceFile(opened.get(), name, text)) return head;
  head.file_ = heads_folder + "/" + name;
  return head;
}

LiveHead::LiveHead(LiveHead&& other) noexcept : file_(std::exchange(other.file_, {})) {}

LiveHead& LiveHead::operator=(LiveHead&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

LiveHead::~LiveHead() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

std::vector<std::string> FoldersOfLiveHeads(const std::string& heads_folder) {
  std::vector<std::string> folders;
  const UniqueFd opened = OpenPrivate(heads_folder);
  if (!opened) return folders;
  std::error_code error;
  std::size_t seen = 0;
  for (std::filesystem::directory_iterator it(heads_folder, error), end; !error && it != end && seen < kMaxHeads;
       it.increment(error), ++seen) {
    const std::string name = it->path().filename().string();
    const auto entry = name.ends_with(".json") ? ReadEntry(opened.get(), name) : std::nullopt;
    if (!entry) continue;
    const auto owner = OwnerOf(entry->folder);
    if (owner && IsOwn(*owner) && IsRunLive(entry->folder)) {
      folders.push_back(entry->folder);
    } else if (!ProcessLives(*entry)) {
      ::unlinkat(opened.get(), name.c_str(), 0);
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

namespace {

// Who else can rename the entries of this folder; empty: nobody.
std::string OthersWhoReplace(const struct stat& folder) {
  const bool sticky = (folder.st_mode & S_ISVTX) != 0;
  if (!sticky && (folder.st_mode & S_IWOTH) != 0) return "every user";
  if (!sticky && (folder.st_mode & S_IWGRP) != 0 && folder.st_gid != 0) {
    const std::string group = GroupName(folder.st_gid);
    if (group != UserName(::geteuid())) return "members of the group " + group;
  }
  return IsOwn(folder.st_uid) || folder.st_uid == 0 ? "" : UserName(folder.st_uid);
}

}  // namespace

std::optional<OpenWay> OpenWayTo(const std::string& directory) {
  for (std::size_t slash = 0; slash != std::string::npos && slash + 1 < directory.size();
       slash = directory.find('/', slash + 1)) {
    const std::string folder = slash == 0 ? "/" : directory.substr(0, slash);
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) continue;
    const std::string others = OthersWhoReplace(status);
    if (others.empty()) continue;
    OpenWay way;
    way.why = fmt::format("{} can replace folders in {}", others, Quoted(folder));
    const std::string elsewhere = "choose a folder of your own with --run-dir or MUSTER_HOME";
    const bool mode = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0;
    const std::string command = "chmod +t " + ShellQuoted(folder);
    if (!mode) {
      way.hint = elsewhere;
    } else if (IsOwn(status.st_uid) || ::geteuid() == 0) {
      way.hint = command;
    } else {
      way.hint = fmt::format("as {}: {}; or {}", UserName(status.st_uid), command, elsewhere);
    }
    return way;
  }
  return std::nullopt;
}

namespace {

// Without a runtime directory the heads' folder has a name that another user can take first; nobody knows the id of a
// run before it begins.
std::array<std::string, 2> PlacesFor(std::string_view run_id) {
  return {OwnLiveHeadsFolder() + "/files-" + std::string(run_id), "/tmp/muster-files-" + std::string(run_id)};
}

}  // namespace

std::string MakeKeptFolder(const std::string& run_dir, std::string_view run_id) {
  if (!OpenWayTo(run_dir)) return {};
  const std::string heads = OwnLiveHeadsFolder();
  static_cast<void>(::mkdir(heads.c_str(), 0700));
  const auto [in_heads, in_tmp] = PlacesFor(run_id);
  const std::string& place = OpenPrivate(heads) && !OpenWayTo(in_heads) ? in_heads : in_tmp;
  const bool made = !OpenWayTo(place) && ::mkdir(place.c_str(), 0700) == 0 && OpenPrivate(place);
  return made ? place : std::string();
}

void RemoveKeptFolder(std::string_view run_id) {
  const auto in_id = [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); };
  if (run_id.empty() || !std::all_of(run_id.begin(), run_id.end(), in_id)) return;  // of a directory from elsewhere
  for (const std::string& place : PlacesFor(run_id)) {
    std::error_code ignored;
    if (OpenPrivate(place)) std::filesystem::remove_all(place, ignored);
  }
}

}  // namespace muster
