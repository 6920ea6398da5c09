#include "stub/program/places.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/system/unique_fd.h"

namespace muster {
namespace {

// 0, or the errno of writing a few bytes there.
int TryWrite(const std::string& folder) {
  const UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) {
    // A file system without unnamed files: check the permission only.
    if (errno == EOPNOTSUPP || errno == EISDIR) return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
    return errno;
  }
  const std::string bytes(std::size_t{64} << 10, 'm');
  return ::pwrite(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) ? 0
         : errno != 0                                                                              ? errno
                                                                                                   : ENOSPC;
}

}  // namespace

void CheckPlaces(const std::vector<PlaceWritten>& places, StubReport& account) {
  std::string seen;
  bool failed = false;
  for (const PlaceWritten& place : places) {
    struct statvfs room = {};
    const bool there = ::statvfs(place.path.c_str(), &room) == 0;
    if (!there && errno == ENOENT && place.may_lack) continue;
    std::string why;
    if (!there) {
      why = fmt::format("{} ({}): {}", place.what, place.path, std::strerror(errno));
    } else if (const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize; free < kLeastRoomBytes) {
      why = fmt::format("{} ({}) is full: {} MiB are free", place.what, place.path, free >> 20);
    } else if (room.f_files > 0 && room.f_favail < kLeastRoomInodes) {
      why = fmt::format("{} ({}) is full: {} inodes are free", place.what, place.path, room.f_favail);
    } else {
      errno = 0;
      if (const int error = TryWrite(place.path); error != 0)
        why = fmt::format("{} ({}) cannot be written to: {}", place.what, place.path, std::strerror(error));
    }
    if (why.empty()) {
      seen += (seen.empty() ? "" : ", ") + place.path;
      continue;
    }
    failed = true;
    account.findings.push_back(
        {Check::kDisk, StubFinding::Outcome::kFailed, std::move(why), "free space there: see df -h and df -i", {}});
  }
  if (!failed && !seen.empty()) account.findings.push_back({Check::kDisk, StubFinding::Outcome::kOk, seen, {}, {}});
}

}  // namespace muster
