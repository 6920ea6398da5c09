#include "run/journal/last_sign.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "run/directory/log_time_reader.h"
#include "run/directory/usage_history.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kNsPerMs = 1'000'000;
// The journal is written with its last record; one that is younger was copied.
constexpr std::uint64_t kCopiedAfterNs = 10 * kNsPerSecond;
constexpr std::string_view kLogEnd = ".log";

// 0 for what is no regular file.
std::uint64_t ChangedNs(int folder, const char* name) {
  struct stat status {};
  const bool known = ::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
  if (!known || status.st_mtim.tv_sec < 0) return 0;
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

// Calls `take` with the folder and each name in it.
template <class Take>
void EachName(int run_folder, const char* name, const Take& take) {
  UniqueFd opened(::openat(run_folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  DIR* const folder = ::fdopendir(opened.get());
  if (folder == nullptr) return;
  opened.release();
  while (const dirent* const entry = ::readdir(folder)) take(::dirfd(folder), entry->d_name);
  ::closedir(folder);
}

std::uint64_t LastChangeNs(int run_folder) {
  std::uint64_t last = ChangedNs(run_folder, kUsageEntry.name);
  for (const char* const name : {kLogsEntry.name, kMetricsEntry.name}) {
    EachName(run_folder, name,
             [&last](int folder, const char* file) { last = std::max(last, ChangedNs(folder, file)); });
  }
  return last;
}

std::uint64_t LastTimeOfLogsNs(int run_folder) {
  std::uint64_t last = 0;
  EachName(run_folder, kLogsEntry.name, [&last](int folder, std::string_view file) {
    if (!file.ends_with(kLogEnd)) return;
    if (auto times = LogTimeReader::Open(folder, std::string(file))) last = std::max(last, times->End());
  });
  return last;
}

}  // namespace

MonotonicNs NsUntilLastSign(int run_folder, const JournalRecord& first, const JournalRecord& last) {
  const MonotonicNs recorded = last.at > first.at ? last.at - first.at : 0;
  const auto began = ParseUtc(first.wall);
  const auto ended = ParseUtc(last.wall);
  if (!began || !ended) return recorded;
  const bool copied = ChangedNs(run_folder, kJournalEntry.name) > *ended + kCopiedAfterNs;
  const std::uint64_t seen = std::min(copied ? LastTimeOfLogsNs(run_folder) : LastChangeNs(run_folder), WallNowNs());
  MonotonicNs until = std::max(recorded, seen > *began ? seen - *began : 0);
  if (copied) until = std::max(until, LastSampleMs(run_folder) * kNsPerMs);
  return until;
}

}  // namespace muster
