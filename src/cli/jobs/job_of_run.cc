#include "cli/jobs/job_of_run.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/values/shell_quote.h"
#include "cli/options/engine_choice.h"
#include "run/directory/directory_owner.h"
#include "run/directory/last_lines.h"
#include "run/directory/run_directory.h"
#include "run/journal/run_summary.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kOutputTail = 256U << 10;

// The last part of the job's output that belongs to the attempt: from its beginning to that of the next one.
std::string OutputOfAttempt(const JobOfRun& job, const std::string& run_dir) {
  std::uint64_t from = 0;
  std::uint64_t to = ~std::uint64_t{0};
  bool found = false;
  for (const JobAttempt& attempt : ReadAttempts(job.first_dir)) {
    if (found) {
      to = attempt.output_from;
      break;
    }
    found = attempt.run_dir == run_dir;
    if (found) from = attempt.output_from;
  }
  const UniqueFd file(::open((job.first_dir + "/" + kJobOutputEntry.name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const off_t size = file ? ::lseek(file.get(), 0, SEEK_END) : 0;
  if (size <= 0) return {};
  to = std::min(to, static_cast<std::uint64_t>(size));
  if (to <= from) return {};
  if (to - from > kOutputTail) from = to - kOutputTail;
  std::string text(to - from, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), static_cast<off_t>(from));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// The names of states that are ends of an allocation rather than of the run in it.
std::string EndName(JobState state) {
  switch (state) {
    case JobState::kNodeFailed:
      return "node_fail";
    case JobState::kCancelled:
    case JobState::kTimeLimit:
    case JobState::kPreempted:
    case JobState::kOutOfMemory:
      return std::string(JobStateName(state));
    case JobState::kUnknown:
      return "requeued";
    default:
      return {};
  }
}

}  // namespace

std::string JobOfRun::Text() const {
  return id.empty() ? "a job of " + jobs.page().name : jobs.page().name + " job " + Printable(id);
}

Result<std::optional<JobOfRun>> FindJobOfRun(const std::string& run_dir) {
  const auto record = ReadJobRecord(run_dir);
  if (!record) return std::optional<JobOfRun>();
  // The commands of a page are executed: never those of another user's.
  const auto owner = OwnerOf(run_dir);
  if (!record->page.empty() && (!owner || !IsOwn(*owner))) return std::optional<JobOfRun>();
  auto page = EnginePageOf(record->engine, record->page);
  if (!page) return Fail(page.error());
  return std::optional<JobOfRun>(
      JobOfRun{*record, ReadJobId(run_dir), FirstAttemptOf(run_dir), EngineJobs(*std::move(page))});
}

std::string NewestAttempt(const JobOfRun& job) {
  const auto attempts = ReadAttempts(job.first_dir);
  return attempts.empty() ? job.first_dir : attempts.back().run_dir;
}

bool HasBegun(const std::string& run_dir) {
  std::error_code error;
  return std::filesystem::file_size(run_dir + "/journal.jsonl", error) > 0 && !error;
}

Result<JobStatus> StateOf(const JobOfRun& job) {
  if (job.id.empty()) {
    return Fail(MachineError("engine", "the id of the job is not known: it was being submitted when muster ended"));
  }
  const std::array jobs = {job.id};
  auto states = job.jobs.States(jobs);
  if (!states) return Fail(states.error());
  return states->at(job.id);
}

bool IsQueued(const JobOfRun& job, const JobStatus& status) {
  if (IsOver(status.state)) return false;
  const std::string newest = NewestAttempt(job);
  return !HasBegun(newest) || (status.state == JobState::kQueued && !IsRunLive(newest));
}

std::string SettleEnd(const JobOfRun& job, const std::string& run_dir, const std::optional<JobStatus>& status) {
  std::vector<JobAttempt> attempts = ReadAttempts(job.first_dir);
  const auto attempt =
      std::find_if(attempts.begin(), attempts.end(), [&](const JobAttempt& each) { return each.run_dir == run_dir; });
  if (attempt != attempts.end() && !attempt->end.empty()) return attempt->end;
  std::string end;
  if (const auto said = EndInOutput(job.jobs.page(), OutputOfAttempt(job, run_dir))) end = EndName(*said);
  if (end.empty() && status && IsOver(status->state)) end = EndName(status->state);
  const auto owner = OwnerOf(run_dir);
  if (!owner || !IsOwn(*owner)) return end;
  // Only if no head can write the chain at the same moment.
  const bool over = job.record.requeue_on.empty() || (status && IsOver(status->state));
  if (over && !end.empty() && attempt != attempts.end() && !IsRunLive(run_dir)) {
    attempt->end = end;
    static_cast<void>(WriteAttempts(job.first_dir, attempts));
  }
  if (status && IsOver(status->state) && status->state != JobState::kVanished && !ReadJobEnd(run_dir)) {
    static_cast<void>(WriteJobEnd(
        run_dir, {std::string(JobStateName(status->state)), status->reason, status->hosts, status->exit_code}));
  }
  return end;
}

std::vector<std::string> OutputBeforeRun(const std::string& run_dir) {
  std::error_code error;
  if (std::filesystem::exists(run_dir + "/" + kJobOutputEntry.name, error)) {
    const UniqueFd folder(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return LastLines(folder.get(), kJobOutputEntry.name);
  }
  const auto end = ReadJobEnd(run_dir);
  // A job that was cancelled in the queue has printed nothing either.
  if (!end || error || end->state == JobStateName(JobState::kCancelled)) return {};
  const std::string nodes = end->hosts.empty() ? "the node" : Printable(end->hosts);
  return {"there is none: does " + nodes + " see " + Printable(run_dir) +
          "? The engine opens it there before it starts muster"};
}

void SettleIfLost(const std::string& run_dir) {
  if (!ReadJobRecord(run_dir) || IsRunLive(run_dir)) return;
  const auto job = FindJobOfRun(run_dir);
  if (!job || !*job) return;
  if (!SettleEnd(**job, run_dir, std::nullopt).empty() || ReadJobEnd(run_dir)) return;
  const auto summary = SummarizeRun(run_dir, false);
  if (summary && summary->outcome != "lost") return;
  if (const auto status = StateOf(**job)) SettleEnd(**job, run_dir, *status);
}

Result<void> StopJob(const JobOfRun& job, bool now) {
  const auto status = StateOf(job);
  if (!status) return Fail(status.error());
  if (IsOver(status->state)) return {};
  const std::array jobs = {job.id};
  if (now || IsQueued(job, *status)) return job.jobs.Cancel(jobs);
  return job.jobs.Signal(jobs, "TERM");
}

}  // namespace muster
