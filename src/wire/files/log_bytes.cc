#include "wire/files/log_bytes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {
namespace {

void AppendNumber(std::string& bytes, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>((number >> shift) & 0xFFU);
}

std::uint64_t NumberFrom(std::string_view bytes) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < 8; ++i) number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return number;
}

}  // namespace

void AppendLogTime(std::string& bytes, const LogTime& time) {
  AppendNumber(bytes, time.wall_ns);
  AppendNumber(bytes, time.offset);
}

LogTime LogTimeFrom(std::string_view bytes) { return {NumberFrom(bytes), NumberFrom(bytes.substr(8))}; }

std::string LogHeadBytes(const LogHead& head) {
  std::string bytes;
  for (const std::uint64_t number : {head.base, head.kept, head.moving, head.limit}) AppendNumber(bytes, number);
  return bytes;
}

LogHead LogHeadFrom(std::string_view bytes) {
  return {NumberFrom(bytes), NumberFrom(bytes.substr(8)), NumberFrom(bytes.substr(16)), NumberFrom(bytes.substr(24))};
}

std::uint64_t BaseOf(const LogHead& head, std::uint64_t inode, bool begins_with_hole) {
  if (head.moving == 0) return head.base;
  const bool moved = head.moving == kCollapsing ? !begins_with_hole : head.moving == inode;
  return moved ? head.kept : head.base;
}

std::string TimeIndexPath(std::string_view log_path) {
  constexpr std::string_view kLog = ".log";
  if (log_path.ends_with(kLog)) log_path.remove_suffix(kLog.size());
  return std::string(log_path) + ".idx";
}

namespace {

constexpr int kReading = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

ssize_t ReadAt(int file, char* into, std::size_t size, std::uint64_t offset) {
  ssize_t got = 0;
  do {
    got = ::pread(file, into, size, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace

std::size_t ReadWritten(int file, std::uint64_t& offset, char* into, std::size_t size) {
  ssize_t got = ReadAt(file, into, size, offset);
  // A hole reads as zero bytes, so only zero bytes require a check for a hole.
  if (got > 0 && into[0] == '\0') {
    struct stat status {};
    const off_t data = ::lseek(file, static_cast<off_t>(offset), SEEK_DATA);
    if (data < 0 && errno == ENXIO && ::fstat(file, &status) == 0) {
      offset = std::max(offset, static_cast<std::uint64_t>(status.st_size));
      return 0;
    }
    if (data >= 0 && static_cast<std::uint64_t>(data) > offset) {
      offset = static_cast<std::uint64_t>(data);
      got = ReadAt(file, into, size, offset);
    }
  }
  if (got > 0 && into[got - 1] == '\0') {
    const off_t hole = ::lseek(file, static_cast<off_t>(offset), SEEK_HOLE);
    if (hole > static_cast<off_t>(offset)) got = std::min<ssize_t>(got, hole - static_cast<off_t>(offset));
  }
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

int LogError(int folder, const std::string& name) {
  const UniqueFd file(::openat(folder, name.c_str(), kReading));
  return file || errno == ENOENT || errno == ENOTDIR ? 0 : errno;
}

std::optional<LogBytes> LogBytes::Open(int folder, const std::string& name) {
  LogBytes log(folder, name);
  if (!log.OpenFile()) return std::nullopt;
  return log;
}

bool LogBytes::OpenFile() {
  UniqueFd file(::openat(folder_, name_.c_str(), kReading));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  file_ = std::move(file);
  inode_ = status.st_ino;
  return true;
}

// The index is created with the log's first bytes; until then nothing has been dropped.
LogHead LogBytes::Head() {
  if (without_limit_) return {};
  if (!index_) index_ = UniqueFd(::openat(folder_, TimeIndexPath(name_).c_str(), kReading));
  if (!index_) return {};
  std::array<char, EntriesBegin(true)> bytes = {};
  const ssize_t got = ReadAt(index_.get(), bytes.data(), bytes.size(), 0);
  const std::string_view read(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  if (read.size() == bytes.size() && read.starts_with(kLimitedIndexHead)) {
    return LogHeadFrom(read.substr(kLimitedIndexHead.size()));
  }
  without_limit_ = read.starts_with(kTimeIndexHead);
  index_.reset();
  return {};
}

LogBytes::State LogBytes::StateNow() {
  const LogHead head = Head();
  if (without_limit_) return {inode_, 0, 0};
  // Another file may have replaced the log.
  struct stat status {};
  if (head.limit > 0 && ::fstatat(folder_, name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      status.st_ino != inode_) {
    OpenFile();
  }
  const bool hole = head.moving == kCollapsing && ::lseek(file_.get(), 0, SEEK_DATA) != 0;
  return {inode_, BaseOf(head, inode_, hole), head.kept};
}

LogExtent LogBytes::Look() {
  for (State before = StateNow();;) {
    struct stat status {};
    const bool known = ::fstat(file_.get(), &status) == 0;
    const State after = StateNow();
    if (before == after) {
      const std::uint64_t size = known ? static_cast<std::uint64_t>(status.st_size) : 0;
      return {before.kept, std::max(before.base + size, before.kept)};
    }
    before = after;
  }
}

std::size_t LogBytes::Read(std::uint64_t& offset, char* into, std::size_t size) {
  for (State before = StateNow();;) {
    std::uint64_t at = std::max(offset, before.kept) - before.base;
    const std::size_t got = ReadWritten(file_.get(), at, into, size);
    const State after = StateNow();
    if (before == after) {
      offset = at + before.base;
      return got;
    }
    before = after;
  }
}

std::string LogBytes::ReadBefore(std::uint64_t end, std::size_t size, std::uint64_t& offset) {
  const LogExtent extent = Look();
  end = std::clamp(end, extent.begin, extent.end);
  offset = std::max(extent.begin, end > size ? end - size : 0);
  std::string bytes;
  while (offset + bytes.size() < end) {
    std::uint64_t at = offset + bytes.size();
    std::string more(static_cast<std::size_t>(end - at), '\0');
    const std::uint64_t asked = at;
    more.resize(Read(at, more.data(), more.size()));
    if (more.empty()) break;
    if (at != asked) {  // a hole, or bytes that were dropped in the meantime
      bytes.clear();
      offset = at;
      if (at >= end) break;
      more.resize(std::min<std::uint64_t>(more.size(), end - at));
    }
    bytes += more;
  }
  return bytes;
}

std::optional<std::uint64_t> LogEnd(int folder, const std::string& name) {
  auto log = LogBytes::Open(folder, name);
  if (!log) return std::nullopt;
  return log->Look().end;
}

bool WriteLogHead(int index, const LogHead& head) {
  const std::string bytes = LogHeadBytes(head);
  return ::pwrite(index, bytes.data(), bytes.size(), kLimitedIndexHead.size()) == static_cast<ssize_t>(bytes.size());
}

std::optional<LogHead> ReadLogHead(int folder, const std::string& log_name) {
  const UniqueFd index(::openat(folder, TimeIndexPath(log_name).c_str(), kReading));
  std::array<char, EntriesBegin(true)> bytes = {};
  if (!index || ReadAt(index.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return std::nullopt;
  }
  const std::string_view read(bytes.data(), bytes.size());
  if (!read.starts_with(kLimitedIndexHead)) return std::nullopt;
  return LogHeadFrom(read.substr(kLimitedIndexHead.size()));
}

}  // namespace muster
