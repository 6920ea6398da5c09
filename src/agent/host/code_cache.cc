#include "agent/host/code_cache.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <tuple>

#include <boost/asio/post.hpp>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

constexpr int kBelowFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr const char* kBytecode = "__pycache__";
constexpr std::size_t kNameBytes = 8;

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Refused(const std::string& path, int error) { return Quoted(path) + ": " + std::strerror(error); }

}  // namespace

int CodeFolder::FolderOf(const std::string& path, bool make) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return root_.get();
  const std::string folder = path.substr(0, slash);
  if (last_fd_ && last_ == folder) return last_fd_.get();
  UniqueFd at;
  for (std::size_t from = 0; from <= folder.size();) {
    const std::size_t to = std::min(folder.find('/', from), folder.size());
    const std::string part = folder.substr(from, to - from);
    const int above = at ? at.get() : root_.get();
    UniqueFd next(::openat(above, part.c_str(), kBelowFlags));
    if (!next && make && errno == ENOENT && (::mkdirat(above, part.c_str(), 0700) == 0 || errno == EEXIST)) {
      next.reset(::openat(above, part.c_str(), kBelowFlags));
    }
    if (!next) return -1;
    at = std::move(next);
    from = to + 1;
  }
  last_ = folder;
  last_fd_ = std::move(at);
  return last_fd_.get();
}

bool CodeFolder::Holds(const CodeEntry& entry) {
  const int folder = FolderOf(entry.path, false);
  const std::string name = NameOf(entry.path);
  struct stat status = {};
  if (folder < 0 || ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (entry.link) {
    std::string target(kMaxCodePath + 1, '\0');
    const ssize_t size =
        S_ISLNK(status.st_mode) ? ::readlinkat(folder, name.c_str(), target.data(), target.size()) : -1;
    return size >= 0 && target.substr(0, static_cast<std::size_t>(size)) == entry.target;
  }
  return S_ISREG(status.st_mode) && (status.st_mode & 07777) == entry.mode && status.st_mtim.tv_sec == kCodeTime &&
         status.st_mtim.tv_nsec == 0 && static_cast<std::uint64_t>(status.st_size) == entry.size;
}

UniqueFd CodeFolder::OpenShipped(const CodeEntry& entry) {
  if (entry.link || !Holds(entry)) return {};
  return UniqueFd(::openat(FolderOf(entry.path, false), NameOf(entry.path).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
}

std::string CodeFolder::MakeLink(const CodeEntry& entry) {
  const int folder = FolderOf(entry.path, true);
  if (folder < 0) return Refused(entry.path, errno);
  const std::string temporary = ".muster-" + RandomHex(kNameBytes);
  if (::symlinkat(entry.target.c_str(), folder, temporary.c_str()) != 0) return Refused(entry.path, errno);
  if (::renameat(folder, temporary.c_str(), folder, NameOf(entry.path).c_str()) == 0) return {};
  const int error = errno;
  ::unlinkat(folder, temporary.c_str(), 0);
  return Refused(entry.path, error);
}

std::string CodeFolder::Begin(const CodeEntry& entry) {
  Drop();
  const int folder = FolderOf(entry.path, true);
  if (folder < 0) return Refused(entry.path, errno);
  entry_ = entry;
  hash_ = Sha256();
  written_ = 0;
  temporary_ = ".muster-" + RandomHex(kNameBytes);
  file_.reset(::openat(folder, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  return file_ ? std::string() : Refused(entry.path, errno);
}

std::string CodeFolder::Put(std::string_view bytes) {
  hash_.Add(bytes);
  written_ += bytes.size();
  const int error = WriteAll(file_.get(), bytes);
  return error == 0 ? std::string() : Refused(entry_.path, error);
}

std::string CodeFolder::Keep() {
  if (written_ != entry_.size || hash_.Hex() != entry_.hash) {
    Drop();
    return Quoted(entry_.path) + " does not have the announced size and hash";
  }
  const std::array<timespec, 2> times = {timespec{kCodeTime, 0}, timespec{kCodeTime, 0}};
  const int folder = FolderOf(entry_.path, false);
  const bool kept = folder >= 0 && ::fchmod(file_.get(), entry_.mode) == 0 &&
                    ::futimens(file_.get(), times.data()) == 0 &&
                    ::renameat(folder, temporary_.c_str(), folder, NameOf(entry_.path).c_str()) == 0;
  const int error = errno;
  if (!kept) {
    Drop();
    return Refused(entry_.path, error);
  }
  file_.reset();
  return {};
}

void CodeFolder::Drop() {
  if (!file_) return;
  const int folder = FolderOf(entry_.path, false);
  if (folder >= 0) ::unlinkat(folder, temporary_.c_str(), 0);
  file_.reset();
}

void CodeFolder::Remove(const std::string& path) {
  const int folder = FolderOf(path, false);
  if (folder < 0) return;
  ::unlinkat(folder, NameOf(path).c_str(), 0);
  if (const UniqueFd bytecode{::openat(folder, kBytecode, kBelowFlags)}) {
    RemoveBelow(bytecode.get());
    ::unlinkat(folder, kBytecode, AT_REMOVEDIR);
  }
  last_fd_.reset();
  for (std::string above = path; above.find('/') != std::string::npos;) {
    above.resize(above.rfind('/'));
    const int holding = FolderOf(above, false);
    if (holding < 0 || ::unlinkat(holding, NameOf(above).c_str(), AT_REMOVEDIR) != 0) break;
  }
  last_fd_.reset();
}

void RemoveBelow(int folder) {
  UniqueFd own(::openat(folder, ".", kBelowFlags));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(own ? ::fdopendir(own.get()) : nullptr, ::closedir);
  if (!entries) return;
  own.release();
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (const UniqueFd below{::openat(folder, entry->d_name, kBelowFlags)}) {
      RemoveBelow(below.get());
      ::unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    } else {
      ::unlinkat(folder, entry->d_name, 0);
    }
  }
}

namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::string_view kList = ".list";
constexpr std::string_view kPart = ".part.";
constexpr std::size_t kRandomBytes = 6;
// Limits of the work done in one turn of the event loop.
constexpr std::size_t kEntriesAtOnce = 200;
constexpr std::size_t kBytesAtOnce = 1U << 20;
constexpr std::size_t kMaxList = 256U << 20;
constexpr std::uint32_t kMaxTries = 3;

// Opens the folder; creates it and missing parents with mode 0700.
tl::expected<UniqueFd, int> OpenCache(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return tl::unexpected<int>(errno);
    if (slash == std::string::npos) break;
  }
  UniqueFd folder(::open(path.c_str(), kFolderFlags));
  if (!folder) return tl::unexpected<int>(errno);
  struct stat status = {};
  if (::fstat(folder.get(), &status) != 0) return tl::unexpected<int>(errno);
  // Anyone who can write there could replace the shipped code.
  if (status.st_uid != ::geteuid() || (status.st_mode & 022) != 0) return tl::unexpected<int>(EPERM);
  return folder;
}

std::string ReadAt(int folder, const std::string& name) {
  const UniqueFd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  if (static_cast<std::size_t>(status.st_size) > kMaxList) return {};
  return BytesAt(file.get(), 0, static_cast<std::size_t>(status.st_size));
}

// The entries of a tree in the cache; empty if its list is invalid.
std::vector<CodeEntry> ReadList(int cache, const std::string& hash) {
  auto entries = Unarchived<std::vector<CodeEntry>>(ReadAt(cache, hash + std::string(kList)));
  if (!entries || !CodeTreeError(*entries).empty() || CodeTreeHash(*entries) != hash) return {};
  return *std::move(entries);
}

std::vector<std::string> NamesIn(int folder) {
  std::vector<std::string> names;
  UniqueFd own(::openat(folder, ".", kFolderFlags));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(own ? ::fdopendir(own.get()) : nullptr, ::closedir);
  if (!entries) return names;
  own.release();
  while (const dirent* entry = ::readdir(entries.get())) names.emplace_back(entry->d_name);
  return names;
}

// Opens the folder and locks it (LOCK_SH or LOCK_EX) without waiting; empty if it is locked or the name has changed.
UniqueFd OpenLocked(int cache, const std::string& name, int how) {
  UniqueFd folder(::openat(cache, name.c_str(), kFolderFlags));
  if (!folder) return {};
  // On file systems without locks code can be used, but is never removed.
  if (::flock(folder.get(), how | LOCK_NB) != 0 && (how == LOCK_EX || errno == EWOULDBLOCK)) return {};
  struct stat ours = {};
  struct stat named = {};
  const bool same = ::fstat(folder.get(), &ours) == 0 &&
                    ::fstatat(cache, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && ours.st_ino == named.st_ino &&
                    ours.st_dev == named.st_dev;
  return same ? std::move(folder) : UniqueFd();
}

}  // namespace

std::string CodeCacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/muster/code";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache/muster/code";
  return {};
}

CodeCache::CodeCache(boost::asio::io_context& io, std::string folder, Send send)
    : io_(io), path_(std::move(folder)), send_(std::move(send)) {}

CodeCache::~CodeCache() { End(); }

void CodeCache::End() {
  over_ = true;
  tree_.Drop();
  if (part_.empty()) return;
  if (tree_) RemoveBelow(tree_.fd());
  ::unlinkat(cache_.get(), part_.c_str(), AT_REMOVEDIR);
  part_.clear();
}

void CodeCache::Work(std::function<bool()> part, std::function<void()> next) {
  boost::asio::post(io_, [this, part = std::move(part), next = std::move(next)]() mutable {
    if (over_) return;
    const bool done = part();
    if (over_) return;
    if (done) return next();
    Work(std::move(part), std::move(next));
  });
}

void CodeCache::Fail(std::string why) {
  End();
  send_(CodeReady{{}, std::move(why)});
}

std::string CodeCache::Offer(OfferCode& command) {
  if (offered_) return "code that is offered twice";
  if (entries_.size() + command.entries.size() > kMaxCodeEntries) return "a tree of too many files";
  std::move(command.entries.begin(), command.entries.end(), std::back_inserter(entries_));
  if (!command.last) return {};
  offered_ = true;
  hash_ = std::move(command.hash);
  if (const std::string error = CodeTreeError(entries_); !error.empty()) return "no tree of code: " + error;
  if (!IsSha256Hex(hash_) || CodeTreeHash(entries_) != hash_) return "a tree of code that has another hash";
  Work(
      [this] {
        if (const std::string error = Open(); !error.empty()) Fail(error);
        return true;
      },
      [this] { Work([this] { return LookOn(); }, [this] { FindDonors(); }); });
  return {};
}

// --- the tree, and its missing files -----------------------------------------------------------------

std::string CodeCache::Open() {
  if (path_.empty()) return "no cache folder: set HOME or XDG_CACHE_HOME";
  if (!cache_) {
    auto cache = OpenCache(path_);
    if (!cache) {
      return fmt::format(
          "{}: {}", Quoted(path_),
          cache.error() == EPERM ? "it is writable by others, or owned by another user" : std::strerror(cache.error()));
    }
    cache_ = *std::move(cache);
  }
  looked_ = 0;
  wanted_.clear();
  to_copy_.clear();
  return OpenKept() ? std::string() : BeginPart();
}

bool CodeCache::OpenKept() {
  UniqueFd folder = OpenLocked(cache_.get(), hash_, LOCK_SH);
  if (!folder) return false;
  tree_ = CodeFolder(std::move(folder));
  return true;
}

std::string CodeCache::BeginPart() {
  part_ = fmt::format("{}{}{}", hash_, kPart, RandomHex(kRandomBytes));
  if (::mkdirat(cache_.get(), part_.c_str(), 0700) != 0) {
    const std::string error = fmt::format("{}: {}", Quoted(path_), std::strerror(errno));
    part_.clear();
    return error;
  }
  UniqueFd folder = OpenLocked(cache_.get(), part_, LOCK_SH);
  if (!folder) return fmt::format("{}: {}", Quoted(path_ + '/' + part_), std::strerror(errno));
  tree_ = CodeFolder(std::move(folder));
  return {};
}

bool CodeCache::LookOn() {
  for (std::size_t done = 0; done < kEntriesAtOnce && looked_ < entries_.size(); ++done, ++looked_) {
    const CodeEntry& entry = entries_[looked_];
    if (tree_.Holds(entry)) continue;
    std::string error;
    if (entry.link) {
      error = tree_.MakeLink(entry);
    } else if (entry.size == 0) {
      error = tree_.Begin(entry);
      if (error.empty()) error = tree_.Keep();
    } else {
      to_copy_.push_back(static_cast<std::uint32_t>(looked_));
    }
    if (!error.empty()) {
      Fail(std::move(error));
      return true;
    }
  }
  return looked_ == entries_.size();
}

// A new version of code shares most of its files with other trees of the cache, so copy from those.
void CodeCache::FindDonors() {
  donors_.clear();
  if (!to_copy_.empty()) {
    for (const std::string& name : NamesIn(cache_.get())) {
      if (!name.ends_with(kList)) continue;
      const std::string hash = name.substr(0, name.size() - kList.size());
      if (hash == hash_ || !IsSha256Hex(hash)) continue;
      UniqueFd folder = OpenLocked(cache_.get(), hash, LOCK_SH);
      if (!folder) continue;
      Donor donor{CodeFolder(std::move(folder)), {}};
      for (CodeEntry& entry : ReadList(cache_.get(), hash)) {
        std::string content = entry.hash;
        if (!entry.link) donor.by_hash.insert_or_assign(std::move(content), std::move(entry));
      }
      donors_.push_back(std::move(donor));
    }
  }
  Work([this] { return CopyOn(); }, [this] { Ask(); });
}

// Copies the first of to_copy_, or a part of it; requests it if no donor has it.
bool CodeCache::CopyOn() {
  if (to_copy_.empty()) return true;
  const CodeEntry& entry = entries_[to_copy_.front()];
  if (!source_) {
    for (Donor& donor : donors_) {
      const auto found = donor.by_hash.find(entry.hash);
      if (found != donor.by_hash.end() && found->second.size == entry.size)
        source_ = donor.folder.OpenShipped(found->second);
      if (source_) break;
    }
    if (source_ && !tree_.Begin(entry).empty()) source_.reset();
  }
  bool whole = false;
  if (source_) {
    std::string bytes(kBytesAtOnce, '\0');
    const ssize_t size = ::read(source_.get(), bytes.data(), bytes.size());
    if (size > 0 && tree_.Put(std::string_view(bytes).substr(0, static_cast<std::size_t>(size))).empty()) return false;
    whole = size == 0 && tree_.Keep().empty();  // Keep() verifies the hash
    source_.reset();
  }
  if (!whole) {
    tree_.Drop();
    wanted_.push_back(to_copy_.front());
  }
  to_copy_.pop_front();
  return to_copy_.empty();
}

void CodeCache::Ask() {
  donors_.clear();
  received_ = 0;
  receiving_ = true;
  send_(CodeMissing{wanted_});
  if (wanted_.empty()) return Complete();
  if (std::string error = BeginRequested(); !error.empty()) Fail(std::move(error));
}

// --- received files --------------------------------------------------------------------------------

std::string CodeCache::BeginRequested() { return tree_.Begin(RequestedEntry()); }

std::string CodeCache::KeepRequested() {
  if (std::string error = tree_.Keep(); !error.empty()) return error;
  if (++received_ == wanted_.size()) return {};
  return BeginRequested();
}

std::string CodeCache::Take(const CodeBytes& bytes) {
  if (over_) return {};  // the head has been informed; the remaining bytes are in transit
  if (!receiving_ || received_ >= wanted_.size() || bytes.entry != wanted_[received_] || bytes.content.empty() ||
      bytes.content.size() > RequestedEntry().size - tree_.written()) {
    return "bytes of code that were not requested";
  }
  std::string error = tree_.Put(bytes.content);
  if (error.empty() && tree_.written() == RequestedEntry().size) error = KeepRequested();
  if (!error.empty()) {
    Fail(std::move(error));
    return {};
  }
  send_(CodeReceived{static_cast<std::uint32_t>(bytes.content.size())});
  if (received_ == wanted_.size()) Complete();
  return {};
}

void CodeCache::Complete() {
  receiving_ = false;
  if (!part_.empty()) {
    if (::renameat(cache_.get(), part_.c_str(), cache_.get(), hash_.c_str()) != 0) {
      const int error = errno;
      End();
      over_ = false;
      // Another run was faster, or files that processes left in an old tree prevent the rename: then that tree is used.
      if ((error != EEXIST && error != ENOTEMPTY) || ++tries_ >= kMaxTries) {
        return Fail(fmt::format("{}: {}", Quoted(path_ + '/' + hash_), std::strerror(error)));
      }
      Work(
          [this] {
            if (const std::string why = Open(); !why.empty()) Fail(why);
            return true;
          },
          [this] { Work([this] { return LookOn(); }, [this] { FindDonors(); }); });
      return;
    }
    part_.clear();
  }
  const std::string name = hash_ + std::string(kList);
  const bool listed = ::utimensat(cache_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
  if (!listed) {
    const std::string temporary = fmt::format("{}{}{}", name, kPart, RandomHex(kRandomBytes));
    const std::string bytes = Archived(entries_);
    const UniqueFd file(
        ::openat(cache_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    const bool written = file && ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    // Without a list the tree is usable, but will never be removed.
    if (!written || ::renameat(cache_.get(), temporary.c_str(), cache_.get(), name.c_str()) != 0) {
      ::unlinkat(cache_.get(), temporary.c_str(), 0);
    }
  }
  Ready();
}

void CodeCache::Ready() {
  send_(CodeReady{path_ + '/' + hash_, {}});
  Work(
      [this] {
        FindOld();
        return true;
      },
      [this] { Work([this] { return RemoveOn(); }, [] {}); });
}

// --- removal of old trees --------------------------------------------------------------------------

void CodeCache::FindOld() {
  const std::int64_t now = ::time(nullptr);
  const auto age_of = [&](const std::string& name) -> std::optional<std::int64_t> {
    struct stat status = {};
    if (::fstatat(cache_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    return now - status.st_mtim.tv_sec;
  };
  std::vector<std::pair<std::int64_t, std::string>> trees;  // sorted by age
  for (const std::string& name : NamesIn(cache_.get())) {
    const std::optional<std::int64_t> age = age_of(name);
    if (!age) continue;
    if (name.find(kPart) != std::string::npos) {
      // Left by a run that was killed while it created the tree.
      if (*age < std::chrono::seconds(kKeepParts).count()) continue;
      if (const UniqueFd folder = OpenLocked(cache_.get(), name, LOCK_EX)) RemoveBelow(folder.get());
      if (::unlinkat(cache_.get(), name.c_str(), AT_REMOVEDIR) != 0) ::unlinkat(cache_.get(), name.c_str(), 0);
    } else if (name.ends_with(kList)) {
      trees.emplace_back(*age, name.substr(0, name.size() - kList.size()));
    }
  }
  std::sort(trees.begin(), trees.end());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto& [age, hash] = trees[i];
    if (hash == hash_ || !IsSha256Hex(hash)) continue;
    if (i < kMaxTrees && age < std::chrono::seconds(kKeep).count()) continue;
    UniqueFd folder = OpenLocked(cache_.get(), hash, LOCK_EX);
    if (!folder) continue;  // in use
    old_.push_back({hash, CodeFolder(std::move(folder)), ReadList(cache_.get(), hash)});
  }
}

bool CodeCache::RemoveOn() {
  if (old_.empty()) return true;
  Old& old = old_.front();
  for (std::size_t done = 0; done < kEntriesAtOnce && !old.entries.empty(); ++done) {
    old.folder.Remove(old.entries.back().path);
    old.entries.pop_back();
  }
  if (!old.entries.empty()) return false;
  ::unlinkat(cache_.get(), old.hash.c_str(), AT_REMOVEDIR);  // fails if processes left files there
  ::unlinkat(cache_.get(), (old.hash + std::string(kList)).c_str(), 0);
  old_.pop_front();
  return old_.empty();
}

}  // namespace muster
