#include "base/system/file_access.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace muster {

std::size_t WriteMost(int fd, std::string_view bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t wrote = ::write(fd, bytes.data() + written, bytes.size() - written);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) break;
    written += static_cast<std::size_t>(wrote);
  }
  return written;
}

int WriteAll(int fd, std::string_view bytes) { return WriteMost(fd, bytes) == bytes.size() ? 0 : errno; }

int WriteForReader(int fd, std::string_view bytes) {
  const int error = WriteAll(fd, bytes);
  if (error != 0) return error;
  return ::lseek(fd, 0, SEEK_SET) == 0 ? 0 : errno;
}

std::string BytesAt(int fd, std::uint64_t offset, std::size_t most) {
  std::string bytes(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const ssize_t got = ::pread(fd, bytes.data() + size, most - size, static_cast<off_t>(offset + size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

namespace {

UniqueFd Refused(int error) {
  errno = error;
  return {};
}

bool IsLink(int directory, const std::string& name) {
  struct stat status {};
  return ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW | (name.empty() ? AT_EMPTY_PATH : 0)) == 0 &&
         S_ISLNK(status.st_mode);
}

// O_PATH alone would open a link itself, and with O_DIRECTORY a link fails with ENOTDIR: both become ELOOP here.
UniqueFd OpenPart(int directory, const std::string& part, int flags, mode_t mode) {
  if ((flags & O_PATH) != 0 && IsLink(directory, part)) return Refused(ELOOP);
  int opened = -1;
  do {
    opened = ::openat(directory, part.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
  } while (opened < 0 && errno == EINTR);
  if (opened >= 0) return UniqueFd(opened);
  const int error = errno;
  return Refused(error == ENOTDIR && IsLink(directory, part) ? ELOOP : error);
}

}  // namespace

std::vector<std::string> PartsBelow(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) return {};
    parts.push_back(std::move(part));
  }
  return parts;
}

UniqueFd OpenBelowByParts(int directory, const std::string& path, int flags, mode_t mode) {
  const std::vector<std::string> parts = PartsBelow(path);
  if (parts.empty()) {
    errno = EINVAL;
    return {};
  }
  UniqueFd at;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    at = OpenPart(at ? at.get() : directory, parts[i], O_PATH | O_DIRECTORY, 0);
    if (!at) return at;
  }
  return OpenPart(at ? at.get() : directory, parts.back(), flags, mode);
}

UniqueFd OpenBelow(int directory, const std::string& path, int flags, mode_t mode) {
  if (PartsBelow(path).empty()) {
    errno = EINVAL;
    return {};
  }
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_NOFOLLOW | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  int opened = -1;
  do {
    opened = static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
  } while (opened < 0 && errno == EINTR);
  // With O_PATH a link at the end is opened itself.
  if (opened >= 0 && ((flags & O_PATH) == 0 || !IsLink(opened, ""))) return UniqueFd(opened);
  if (opened >= 0) {
    ::close(opened);
    return Refused(ELOOP);
  }
  // EPERM: a seccomp filter that does not know the call. EAGAIN: something on the path was renamed meanwhile. ENOTDIR:
  // perhaps caused by a link, which the fallback distinguishes.
  if (errno != ENOSYS && errno != EPERM && errno != EAGAIN && errno != ENOTDIR) return {};
  return OpenBelowByParts(directory, path, flags, mode);
}

UniqueFd OpenInside(int directory, const std::string& path, int flags) {
  open_how how{};
  // An O_PATH open never blocks, and openat2(2) refuses flags that have no meaning with it.
  const int careful = flags | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK | O_NOCTTY);
  how.flags = static_cast<std::uint64_t>(careful);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const int opened = static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
  if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) return UniqueFd(opened);
  if (path.starts_with('/')) return Refused(EXDEV);
  std::string plain;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part == "..") return Refused(EXDEV);
    if (!part.empty() && part != ".") plain += (plain.empty() ? "" : "/") + part;
  }
  if (path.empty()) return Refused(ENOENT);
  return plain.empty() ? UniqueFd(::openat(directory, ".", careful)) : OpenBelowByParts(directory, plain, careful);
}

bool IsInProcfs(int file) {
  struct statfs facts {};
  return ::fstatfs(file, &facts) == 0 && facts.f_type == PROC_SUPER_MAGIC;
}

bool LeadsTo(const std::string& path, int directory) {
  struct stat named {};
  struct stat open {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(directory, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

std::string FileBelow::ThroughDescriptor() const {
  return "/proc/self/fd/" + std::to_string(directory) + (path.empty() ? "" : "/" + path);
}

void ReadFileChanges(int inotify, const std::function<void(const FileChange&)>& tell) {
  alignas(inotify_event) std::array<char, 16U << 10> buffer;
  for (;;) {
    const ssize_t got = ::read(inotify, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      at += sizeof event;
      // The kernel pads names with zero bytes.
      const std::string_view name(buffer.data() + at, event.len);
      at += event.len;
      tell({event.wd, event.mask, name.substr(0, name.find('\0'))});
    }
  }
}

}  // namespace muster
