#include "agent/host/host_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/values/quoting.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// Restores the group permission, independent of the umask. An agent of root in another user's folder (root@host, where
// the head is not root) gives its files to that user, who could not read them otherwise.
void ShareAsFolder(int created, const FileBelow& file) {
  struct stat folder {};
  const std::size_t slash = file.path.rfind('/');
  const std::string path = slash == std::string::npos ? "." : file.path.substr(0, slash);
  if (::fstatat(file.directory, path.c_str(), &folder, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (::geteuid() == 0 && folder.st_uid != 0 && ::fchown(created, folder.st_uid, folder.st_gid) != 0) return;
  if (IsForGroup(folder.st_mode)) static_cast<void>(::fchmod(created, 0640));
}

}  // namespace

UniqueFd CreateNewFile(const FileBelow& file, int access) {
  UniqueFd created = OpenBelow(file.directory, file.path, access | O_CREAT | O_EXCL | O_NOCTTY, 0600);
  if (created) ShareAsFolder(created.get(), file);
  return created;
}

tl::expected<UniqueFd, SpawnError> CreateLogFile(const FileBelow& file, int access) {
  // O_APPEND, so that processes sharing the descriptor cannot overwrite each other's lines.
  UniqueFd log = CreateNewFile(file, access | O_APPEND);
  if (log) return log;
  return tl::unexpected<SpawnError>(SpawnError{SpawnStage::kLog, errno, Quoted(file.path)});
}

namespace {

std::string Refused(const std::string& path, std::string_view why) {
  return fmt::format("the run directory {} cannot be opened: {}", Quoted(path), why);
}

}  // namespace

std::string RunFolder::Open(const std::string& path, Owner owner) {
  if (!path.starts_with('/')) return Refused(path, "it is not an absolute path");
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!directory || ::fstat(directory.get(), &status) != 0) return Refused(path, std::strerror(errno));
  const bool any = owner == Owner::kAnyIfRoot && ::geteuid() == 0;
  if (status.st_uid != ::geteuid() && !any) {
    return Refused(path,
                   fmt::format("it belongs to uid {}, and this agent runs as uid {}", status.st_uid, ::geteuid()));
  }
  directory_ = std::move(directory);
  path_ = path;
  return {};
}

FileBelow RunFolder::At(const std::string& path) const {
  if (!held() || !path.starts_with(path_ + '/')) return {-1, path};
  return {directory_.get(), path.substr(path_.size() + 1)};
}

namespace {

namespace fs = std::filesystem;

std::string Refused(const std::string& path, int error) { return Quoted(path) + ": " + std::strerror(error); }

UniqueFd OpenForReading(int directory, const std::string& path, std::uint64_t& size) {
  UniqueFd file = OpenBelow(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

}  // namespace

HostFolder::HostFolder(boost::asio::io_context& io, RunFolder& run_folder, Ends ends)
    : io_(io), ends_(std::move(ends)), run_folder_(run_folder), watch_(io.get_executor()), batch_(io.get_executor()) {}

std::string HostFolder::Open(const std::string& path, const std::string& run_id) {
  if (!fs::path(path).is_absolute()) return "not an absolute path of a run directory: " + Quoted(path);
  if (RunFolder there; there.Open(path, RunFolder::Owner::kAnyIfRoot).empty()) {
    std::uint64_t size = 0;
    const UniqueFd probe = OpenForReading(there.directory(), kProbeEntry.name, size);
    if (probe && size == run_id.size() && BytesAt(probe.get(), 0, run_id.size()) == run_id) {
      run_folder_ = std::move(there);
      return {};
    }
  }
  if (const std::string why = Make(path); !why.empty()) {
    RemoveAbove();
    return "the run directory cannot be created: " + why;
  }
  made_ = true;
  for (const RunEntry& entry : RunEntries()) {
    if (entry.from_hosts) ::mkdirat(directory(), entry.name, 0700);
  }

  UniqueFd watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  for (const RunEntry& entry : RunEntries()) {
    if (!entry.grows) continue;
    const std::string watched = FileBelow{directory(), entry.name}.ThroughDescriptor();
    const int number = watch ? ::inotify_add_watch(watch.get(), watched.c_str(), IN_MODIFY) : -1;
    if (number >= 0) watched_.emplace(number, std::string(entry.name) + "/");
  }
  if (!watched_.empty()) {
    boost::system::error_code ignored;
    watch_.assign(watch.get(), ignored);
    if (!ignored) {
      watch.release();
      AwaitWrites();
    }
  }
  return {};
}

std::string HostFolder::Make(const std::string& path) {
  std::vector<std::string> missing;
  std::error_code error;
  for (fs::path above = fs::path(path).parent_path(); !fs::exists(above, error) && above.has_relative_path();
       above = above.parent_path()) {
    missing.push_back(above.string());
  }
  for (auto above = missing.rbegin(); above != missing.rend(); ++above) {
    if (::mkdir(above->c_str(), 0700) == 0) {
      made_above_.push_back(*above);
    } else if (errno != EEXIST) {
      return Refused(*above, errno);
    }
  }
  if (::mkdir(path.c_str(), 0700) != 0) return Refused(path, errno);
  return run_folder_.Open(path, RunFolder::Owner::kSelf);
}

std::string HostFolder::Put(const PlaceFile& file) {
  if (!made()) return {};
  if (PartsBelow(file.path).empty()) return "not a path below the run directory: " + Quoted(file.path);
  MakeFoldersAbove(file.path);
  const int how = file.offset == 0 ? O_CREAT | O_TRUNC : 0;
  const UniqueFd to = OpenBelow(directory(), file.path, O_WRONLY | how, 0600);
  struct stat status = {};
  if (!to || ::fstat(to.get(), &status) != 0) return Refused(run_folder_.path() + '/' + file.path, errno);
  if (static_cast<std::uint64_t>(status.st_size) != file.offset) {
    return Quoted(file.path) + ": a part that does not follow the one before";
  }
  put_.insert(file.path);
  for (std::size_t at = 0; at < file.content.size();) {
    const ssize_t size =
        ::pwrite(to.get(), file.content.data() + at, file.content.size() - at, static_cast<off_t>(file.offset + at));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return Refused(run_folder_.path() + '/' + file.path, size < 0 ? errno : EIO);
    at += static_cast<std::size_t>(size);
  }
  return {};
}

void HostFolder::Expect(const std::string& file) {
  const std::string relative = made() ? Relative(file) : std::string();
  if (relative.empty()) return;
  brought_.AddFile(relative);
  MakeFoldersAbove(relative);
}

void HostFolder::ExpectAttempt(const std::string& log) {
  if (const std::string file = Relative(log); !file.empty()) brought_.AddAttempt(file);
}

void HostFolder::MakeFoldersAbove(const std::string& relative) {
  UniqueFd above;
  const std::vector<std::string> parts = PartsBelow(relative);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const int in = above ? above.get() : directory();
    ::mkdirat(in, parts[i].c_str(), 0700);
    UniqueFd made(::openat(in, parts[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made) return;
    above = std::move(made);
  }
}

std::string HostFolder::Relative(const std::string& path) const {
  if (!made()) return {};
  FileBelow file = run_folder_.At(path);
  return file.directory < 0 || PartsBelow(file.path).empty() ? std::string() : std::move(file.path);
}

// --- files that grow -------------------------------------------------------------------------------

void HostFolder::Began(const std::string& log, bool limited) {
  const std::string file = Relative(log);
  if (!file.empty() && limited) limited_.insert(file);
}

void HostFolder::Ended(const std::string& log) {
  const std::string file = Relative(log);
  std::uint64_t size = 0;
  if (file.empty() || all_ || !brought_.Take(file)) return;
  const UniqueFd from = OpenForReading(directory(), file, size);
  if (!from) return;
  std::uint64_t& sent = sent_[file];
  const bool limited = limited_.contains(file);
  const std::uint64_t tail = size > kTail ? size - kTail : 0;
  const std::uint64_t offset = limited ? tail : std::max(sent, tail);
  if (offset >= size) return;
  FileBytes bytes{file, offset, BytesAt(from.get(), offset, static_cast<std::size_t>(size - offset)), false};
  if (!limited && offset == sent) sent = size;
  ends_.send(bytes);
}

void HostFolder::AwaitWrites() {
  watch_.async_wait(WatchedFd::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    OnWrites();
    AwaitWrites();
  });
}

void HostFolder::OnWrites() {
  ReadFileChanges(watch_.native_handle(), [this](const FileChange& change) {
    if ((change.mask & IN_Q_OVERFLOW) != 0) {
      for (const auto& [file, sent] : sent_) due_.insert(file);
      return;
    }
    const auto folder = watched_.find(change.watch);
    if (change.name.empty() || folder == watched_.end()) return;
    if (const std::string file = folder->second + std::string(change.name); brought_.Take(file)) due_.insert(file);
  });
  if (std::exchange(batching_, true)) return;
  batch_.expires_after(kBatch);
  batch_.async_wait([this](const boost::system::error_code& error) {
    batching_ = false;
    if (!error) Pump();
  });
}

void HostFolder::Pump() {
  while (!sending_ && !due_.empty()) {
    const std::string file = *due_.begin();
    if (!SendNext(file)) due_.erase(file);
    sending_ = true;
    ends_.when_sent([this] {
      boost::asio::post(io_, [this] {
        sending_ = false;
        Pump();
      });
    });
  }
  if (!sending_ && all_ && done_) std::exchange(done_, nullptr)();
}

bool HostFolder::SendNext(const std::string& file) {
  if (limited_.contains(file) && !all_) return false;
  std::uint64_t size = 0;
  const UniqueFd from = OpenForReading(directory(), file, size);
  if (!from) return false;
  std::uint64_t& sent = sent_[file];
  if (sent > size) sent = 0;  // it was replaced
  FileBytes bytes{file, sent, BytesAt(from.get(), sent, std::min<std::uint64_t>(kChunk, size - sent)), false};
  sent += bytes.content.size();
  const bool more = sent < size && !bytes.content.empty();
  bytes.last = all_ && !more;
  if (!bytes.content.empty() || bytes.last) ends_.send(bytes);
  return more;
}

void HostFolder::SendAll(std::function<void()> done) {
  all_ = true;
  done_ = std::move(done);
  boost::system::error_code closed;
  watch_.close(closed);
  batch_.cancel();
  for (const RunEntry& entry : RunEntries()) {
    if (!entry.from_hosts) continue;
    std::error_code error;
    const std::string top = FileBelow{directory(), {}}.ThroughDescriptor() + '/';
    for (fs::recursive_directory_iterator it(top + entry.name, error), end; !error && it != end; it.increment(error)) {
      std::error_code unknown;
      if (it->is_symlink(unknown) || !it->is_regular_file(unknown)) continue;
      const std::string file = it->path().string().substr(top.size());
      if (file.empty() || put_.contains(file) || !brought_.Take(file)) continue;
      due_.insert(file);
      if (limited_.contains(file)) sent_[file] = 0;
    }
  }
  boost::asio::post(io_, [this] { Pump(); });
}

void HostFolder::Remove() {
  if (!made()) return;
  std::error_code ignored;
  const std::string top = FileBelow{directory(), {}}.ThroughDescriptor();
  for (const auto& [file, bytes] : sent_) ::unlinkat(directory(), file.c_str(), 0);
  for (const std::string& file : put_) ::unlinkat(directory(), file.c_str(), 0);
  fs::remove_all(kPythonEntry.In(top), ignored);  // including files that Python added
  // Deepest first; a folder that is not empty stays, and all its parents.
  std::vector<std::string> folders;
  for (fs::recursive_directory_iterator it(top, ignored), end; !ignored && it != end; it.increment(ignored)) {
    std::error_code unknown;
    if (!it->is_symlink(unknown) && it->is_directory(unknown)) folders.push_back(it->path().string());
  }
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) ::rmdir(folder->c_str());
  if (run_folder_.IsInPlace()) ::rmdir(run_folder_.path().c_str());
  RemoveAbove();
}

void HostFolder::RemoveAbove() {
  for (auto above = made_above_.rbegin(); above != made_above_.rend(); ++above) ::rmdir(above->c_str());
}

}  // namespace muster
