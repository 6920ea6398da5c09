#include "run/report/ledger_reader.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "run/directory/checkpoints.h"
#include "run/directory/job_record.h"
#include "run/directory/process_output.h"
#include "run/journal/run_summary.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::uint64_t kNsOfSecond = 1'000'000'000;
constexpr std::size_t kMaxLogs = 64;              // whose growth is looked at
constexpr std::size_t kMaxWrites = 10'000;        // the newest ones
constexpr std::uint64_t kMinWrite = 400'000'000;  // times of logs are 0.1 s apart: shorter writes cannot be judged

// When the file or folder was made; 0 if its file system does not know.
std::uint64_t MadeNs(const std::string& path) {
  struct statx facts {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BTIME, &facts) != 0) return 0;
  if ((facts.stx_mask & STATX_BTIME) == 0 || facts.stx_btime.tv_sec < 0) return 0;
  return static_cast<std::uint64_t>(facts.stx_btime.tv_sec) * kNsOfSecond + facts.stx_btime.tv_nsec;
}

// The growth of a run's logs.
class LogGrowth {
 public:
  LogGrowth(const LedgerRun& run, int run_folder)
      : logs_(::openat(run_folder, kLogsEntry.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
    for (ProcessId id = 0; logs_ && id < run.history.attempts.size(); ++id) {
      for (std::uint32_t attempt = 0; attempt < run.history.attempts[id].size(); ++attempt) {
        if (times_.size() == kMaxLogs) return;
        const std::string path = LogPath(*run.plan, id, attempt);
        if (auto times = LogTimeReader::Open(logs_.get(), path.substr(path.find('/') + 1))) {
          times_.push_back(*std::move(times));
        }
      }
    }
  }

  bool In(std::uint64_t from_wall, std::uint64_t to_wall) {
    return std::any_of(times_.begin(), times_.end(),
                       [&](LogTimeReader& times) { return times.OffsetAt(to_wall) > times.OffsetAt(from_wall); });
  }

 private:
  UniqueFd logs_;
  std::vector<LogTimeReader> times_;
};

// The checkpoints that are there now and were written during the run.
void ReadCheckpoints(const std::string& run_dir, int run_folder, LedgerRun& run) {
  const std::uint64_t began = run.WallOf(run.history.first.on_head);
  const std::uint64_t until = run.WallOf(run.until);
  std::uint64_t newest = 0;
  for (const Recorded<CheckpointSeen>& seen : run.history.checkpoints) {
    if (!seen.run.empty() || seen.age_ms < 0) continue;
    const std::uint64_t at = run.WallOf(seen.on_head);
    newest = std::max(newest, at - std::min(at / 1'000'000, static_cast<std::uint64_t>(seen.age_ms)) * 1'000'000);
  }
  run.newest_wall_ns = newest;
  if (run.plan->checkpoints.dir.marked.empty()) return;
  std::error_code error;
  const auto place = PlaceInRun(run.plan->checkpoints, std::filesystem::absolute(run_dir, error).lexically_normal());
  if (!place) return run.newest_wall_ns.reset();
  const auto found = CompleteCheckpoints(*place);
  if (!found) return;
  std::vector<std::pair<std::uint64_t, std::string>> written;
  for (const Checkpoint& checkpoint : *found) {
    const auto at = static_cast<std::uint64_t>(std::max<std::int64_t>(checkpoint.modified_ns, 0));
    if (at < began || at > until + kNsOfSecond) continue;
    written.emplace_back(std::min(at, until), checkpoint.path);
  }
  std::sort(written.begin(), written.end());
  if (!written.empty()) {
    run.newest_wall_ns = std::max(newest, written.back().first);
  } else if (newest == 0) {
    run.newest_wall_ns.reset();  // those that are there have other times, as in a copy
  }
  if (written.size() > kMaxWrites) written.erase(written.begin(), written.end() - kMaxWrites);
  LogGrowth logs(run, run_folder);
  for (const auto& [to, path] : written) {
    const std::uint64_t from = std::max(MadeNs(path), began);
    const std::uint64_t took = to - std::min(from, to);
    // What was written to logs shortly before is recorded after it has begun.
    if (MadeNs(path) == 0 || took < kMinWrite || logs.In(from + took / 4, to)) continue;
    const bool stalled = logs.In(from - std::min(from, took), from) && logs.In(to, to + took);
    const MonotonicNs first = run.history.first.on_head;
    run.writes.push_back({first + (from - began), first + (to - began), stalled});
  }
}

}  // namespace

Result<LedgerRun> ReadLedgerRun(const std::string& run_dir) {
  Result<RecordedRun> recorded = ReadRun(run_dir);
  if (!recorded) return Fail(std::move(recorded.error()));
  LedgerRun run;
  run.plan = recorded->plan;
  run.history = std::move(recorded->history);
  run.live = recorded->live;
  if (!run.history.began) {
    return Fail(Error("run", {},
                      fmt::format("the journal of {} has no first record: {}", Quoted(run_dir),
                                  run.history.damage.empty() ? "it is empty" : run.history.damage)));
  }
  run.until = run.history.last.on_head;
  if (!run.history.ended) {
    run.until =
        run.history.first.on_head + NsUntilLastSign(recorded->folder.get(), run.history.first, run.history.last);
  }
  if (const auto job = ReadJobRecord(run_dir)) {
    run.allocated = true;
    const auto submitted = ParseUtc(job->submitted_at);
    const std::uint64_t began = run.WallOf(run.history.first.on_head);
    if (job->first.empty() && submitted && *submitted < began) run.queued_ns = began - *submitted;
  }
  ReadCheckpoints(run_dir, recorded->folder.get(), run);
  return run;
}

}  // namespace muster
