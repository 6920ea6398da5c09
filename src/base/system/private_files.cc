#include "base/system/private_files.h"

#include <algorithm>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/values/quoting.h"

namespace muster {

Result<UniqueFd> OpenRegular(int at, const std::string& path, struct stat& status, int flags) {
  const auto refused = [&](int error) { return Fail(SystemError("file", "cannot read " + Quoted(path), error)); };
  int fd = -1;
  do {
    fd = ::openat(at, path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
  } while (fd < 0 && errno == EINTR);
  UniqueFd file(fd);
  if (!file || ::fstat(file.get(), &status) != 0) return refused(errno);
  if (!S_ISREG(status.st_mode)) return refused(S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  return file;
}

namespace {

// The mode for a new folder in this open folder.
mode_t FolderModeIn(int folder) {
  struct stat status {};
  return ::fstat(folder, &status) == 0 && IsForGroup(status.st_mode) ? kGroupFolderMode : 0700;
}

int OpenRetrying(int at, const char* path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = ::openat(at, path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

tl::unexpected<Diagnostics> FileFailure(std::string_view what, const std::string& path, int error) {
  return Fail(SystemError("file", fmt::format("{} {}", what, Quoted(path)), error));
}

Result<std::vector<std::string>> Parts(const std::string& path) {
  std::vector<std::string> parts = PartsBelow(path);
  if (!parts.empty()) return parts;
  return Fail(MachineError("path", fmt::format("{} does not name a file below its folder", Quoted(path))));
}

// Reads until `limit` bytes or the end of the file; the error number, or 0.
int ReadUpTo(int fd, std::size_t limit, std::string& bytes) {
  constexpr std::size_t kChunk = 256U << 10;
  while (bytes.size() < limit) {
    const std::size_t before = bytes.size();
    bytes.resize(before + std::min(kChunk, limit - before));
    const ssize_t got = ::read(fd, bytes.data() + before, bytes.size() - before);
    bytes.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) return 0;
    if (got < 0 && errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

bool SetMode(int fd, mode_t mode) {
  struct stat status {};
  if (::fstat(fd, &status) == 0 && (status.st_mode & 07777) == mode) return true;
  return ::fchmod(fd, mode) == 0;
}

Result<UniqueFd> OpenFolder(int at, const std::string& path) {
  UniqueFd folder(OpenRetrying(at, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (!folder) return FileFailure("cannot open the folder", path, errno);
  return folder;
}

Result<UniqueFd> MakeFolder(int at, const std::string& name) {
  const mode_t mode = FolderModeIn(at);
  const bool made = ::mkdirat(at, name.c_str(), mode) == 0;
  if (!made && errno != EEXIST) return FileFailure("cannot create the folder", name, errno);
  if (!made) return OpenFolder(at, name);
  Result<UniqueFd> folder = OpenFolder(at, name);
  if (folder && SetMode(folder->get(), mode)) return folder;
  if (::fchmodat(at, name.c_str(), mode, 0) != 0) return FileFailure("cannot make", name, errno);
  return OpenFolder(at, name);
}

namespace {

// The folder that contains the last part, created if necessary; invalid if that is `at` itself.
Result<UniqueFd> MakeFoldersBefore(int at, const std::vector<std::string>& parts) {
  UniqueFd folder;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    Result<UniqueFd> next = MakeFolder(folder ? folder.get() : at, parts[i]);
    if (!next) return next;
    folder = std::move(*next);
  }
  return folder;
}

// Opens a file for writing; `flags` say how it is created.
Result<UniqueFd> OpenToWrite(int at, const std::string& path, int flags) {
  Result<std::vector<std::string>> parts = Parts(path);
  if (!parts) return Fail(std::move(parts.error()));
  Result<UniqueFd> folder = MakeFoldersBefore(at, *parts);
  if (!folder) return folder;
  const int below = *folder ? folder->get() : at;
  UniqueFd file(OpenRetrying(below, parts->back().c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | flags, 0600));
  if (!file) return FileFailure("cannot create", path, errno);
  const mode_t mode = FileModeIn(below);
  if (!SetMode(file.get(), mode)) return FileFailure("cannot create", path, errno);
  return file;
}

}  // namespace

Result<UniqueFd> MakeFolderOf(int at, const std::string& path) {
  const Result<std::vector<std::string>> parts = Parts(path);
  if (!parts) return Fail(parts.error());
  return MakeFoldersBefore(at, *parts);
}

Result<UniqueFd> CreateFile(int at, const std::string& path, int flags) {
  return OpenToWrite(at, path, O_EXCL | flags);
}

Result<UniqueFd> OpenOrCreateFile(int at, const std::string& path) {
  Result<UniqueFd> file = OpenToWrite(at, path, O_NONBLOCK);
  if (!file) return file;
  struct stat status = {};
  if (::fstat(file->get(), &status) != 0 || !S_ISREG(status.st_mode)) return FileFailure("cannot write", path, EINVAL);
  return file;
}

Result<void> WriteNewFile(int at, const std::string& path, std::string_view bytes) {
  Result<UniqueFd> file = CreateFile(at, path);
  if (!file) return Fail(std::move(file.error()));
  if (const int error = WriteAll(file->get(), bytes)) return FileFailure("cannot write", path, error);
  return {};
}

bool LinkFile(int at, const std::string& path, const std::string& from) {
  const Result<std::vector<std::string>> parts = Parts(path);
  if (!parts) return false;
  const Result<UniqueFd> folder = MakeFoldersBefore(at, *parts);
  if (!folder) return false;
  return ::linkat(AT_FDCWD, from.c_str(), *folder ? folder->get() : at, parts->back().c_str(), 0) == 0;
}

Result<void> ReplaceFile(int at, const std::string& name, std::string_view bytes) {
  const std::size_t slash = name.rfind('/');
  const std::size_t last = slash == std::string::npos ? 0 : slash + 1;
  const std::string draft = name.substr(0, last) + "." + name.substr(last) + ".new";
  ::unlinkat(at, draft.c_str(), 0);  // left by a writer that was killed
  Result<UniqueFd> file = CreateFile(at, draft);
  if (!file) return Fail(std::move(file.error()));
  int error = WriteAll(file->get(), bytes);
  if (error == 0 && ::renameat(at, draft.c_str(), at, name.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlinkat(at, draft.c_str(), 0);
  return FileFailure("cannot write", name, error);
}

Result<std::string> ReadFileAt(int at, const std::string& path, std::size_t limit, int flags) {
  struct stat status {};
  Result<UniqueFd> file = OpenRegular(at, path, status, flags);
  if (!file) return Fail(std::move(file.error()));
  std::string bytes;
  if (const int error = ReadUpTo(file->get(), limit + 1, bytes)) return FileFailure("cannot read", path, error);
  if (bytes.size() > limit) return FileFailure("cannot read", path, EFBIG);
  return bytes;
}

Result<std::string> ReadWholeFile(const std::string& path, std::size_t limit) {
  return ReadFileAt(AT_FDCWD, path, limit);
}

bool EntryExists(int at, const std::string& name) {
  struct stat status {};
  return ::fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<FileTail> ReadTail(int at, const std::string& path, std::size_t limit, int flags) {
  struct stat status {};
  Result<UniqueFd> file = OpenRegular(at, path, status, flags);
  if (!file) return Fail(std::move(file.error()));
  FileTail tail;
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  limit = static_cast<std::size_t>(std::min<std::uint64_t>(limit, size));
  tail.offset = size > limit ? size - limit : 0;
  if (::lseek(file->get(), static_cast<off_t>(tail.offset), SEEK_SET) < 0)
    return FileFailure("cannot read", path, errno);
  if (const int error = ReadUpTo(file->get(), limit, tail.bytes)) return FileFailure("cannot read", path, error);
  return tail;
}

}  // namespace muster
