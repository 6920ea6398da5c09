#include "agent/logs/log_collapse.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "wire/files/log_bytes.h"
#include "wire/files/time_index.h"

namespace muster {
namespace {

constexpr int kFlags = O_RDWR | O_NONBLOCK | O_NOCTTY;

bool Allocate(int file, int mode, std::uint64_t size) {
  int done = 0;
  do {
    done = ::fallocate(file, mode, 0, static_cast<off_t>(size));
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

bool PunchHole(int file, std::uint64_t size) {
  return Allocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, size);
}

bool CutOff(int file, std::uint64_t size) { return Allocate(file, FALLOC_FL_COLLAPSE_RANGE, size); }

bool BeginsWithHole(int file) { return ::lseek(file, 0, SEEK_DATA) != 0; }

// Completes a cut that was begun, and updates the head.
bool Finish(int log, int index, LogHead& head) {
  // The bytes of the hole are lost in any case; without a hole, it has already been cut out.
  if (BeginsWithHole(log) && !CutOff(log, head.kept - head.base)) return false;
  head.base = head.kept;
  head.moving = 0;
  return WriteLogHead(index, head);
}

}  // namespace

std::uint64_t BytesToDrop(std::uint64_t size, std::uint64_t limit) {
  if (size <= limit) return 0;
  const std::uint64_t excess = size - (limit - limit / 4);
  return excess / kCollapseUnit * kCollapseUnit;
}

bool CanCollapse(const FileBelow& folder) {
  const std::string path = folder.path + "/.collapse-" + std::to_string(::getpid());
  const UniqueFd file = OpenBelow(folder.directory, path, kFlags | O_CREAT | O_EXCL, 0600);
  if (!file) return false;
  const std::string bytes(2 * kCollapseUnit, 'x');
  struct stat status {};
  const bool can = ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
                   PunchHole(file.get(), kCollapseUnit) && BeginsWithHole(file.get()) &&
                   CutOff(file.get(), kCollapseUnit) && !BeginsWithHole(file.get()) &&
                   ::fstat(file.get(), &status) == 0 && status.st_size == static_cast<off_t>(kCollapseUnit);
  ::unlinkat(folder.directory, path.c_str(), 0);
  return can;
}

bool CollapseLog(const FileBelow& file) {
  const UniqueFd log = OpenBelow(file.directory, file.path, kFlags);
  const UniqueFd index = OpenBelow(file.directory, TimeIndexPath(file.path), kFlags);
  auto head = ReadLogHead(file.directory, file.path);
  struct stat status {};
  if (!log || !index || !head) return false;
  if (head->moving == kCollapsing && !Finish(log.get(), index.get(), *head)) return false;
  if (::fstat(log.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::uint64_t drop = BytesToDrop(static_cast<std::uint64_t>(status.st_size), head->limit);
  // Includes a hole that was not yet marked for cutting.
  drop = std::max(drop, head->kept - head->base);
  if (drop == 0) return false;
  head->kept = head->base + drop;
  if (!WriteLogHead(index.get(), *head) || !PunchHole(log.get(), drop)) return false;
  head->moving = kCollapsing;
  return WriteLogHead(index.get(), *head) && Finish(log.get(), index.get(), *head);
}

}  // namespace muster
