#include "agent/code/code_folder.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/write_all.h"
#include "base/values/fingerprint.h"
#include "base/values/shell_quote.h"

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
    std::string target(kLongestCodePath + 1, '\0');
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

}  // namespace muster
