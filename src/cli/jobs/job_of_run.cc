#include "cli/jobs/job_of_run.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "cli/options/engine_choice.h"
#include "run/directory/process_output.h"
#include "run/directory/run_directory.h"
#include "run/journal/run_summary.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

std::string FirstLine(const std::string& text) { return Printable(text.substr(0, text.find('\n'))); }

tl::unexpected<Diagnostics> CallFailed(const EnginePage& page, const EngineCall& call, const CommandOutput& output) {
  const std::string why = !output.started       ? "it cannot be started"
                          : output.late         ? "it took longer than 30 s"
                          : !output.err.empty() ? FirstLine(output.err)
                                                : "it exited with code " + std::to_string(output.exit_code);
  return Fail(MachineError("engine", page.name + ": " + call.words.front() + ": " + why));
}

}  // namespace

Result<std::string> EngineJobs::Submit(const std::string& path, const std::string& text) const {
  bool on_stdin = false;
  const EngineCall call = SubmitCall(page_, path, on_stdin);
  const CommandOutput output = RunEngineCommand(call.words, call.clear, on_stdin ? text : std::string_view());
  if (output.exit_code != 0) return CallFailed(page_, call, output);
  return SubmittedJob(page_, output.out);
}

Result<std::map<std::string, JobStatus>> EngineJobs::States(std::span<const std::string> jobs) const {
  std::map<std::string, JobStatus> states;
  std::vector<std::string> asked(jobs.begin(), jobs.end());
  for (std::size_t i = 0; i < page_.queries.size() && !asked.empty(); ++i) {
    const EngineQuery& query = page_.queries[i];
    for (const EngineCall& call : QueryCalls(page_, query, asked)) {
      const CommandOutput output = RunEngineCommand(call.words, call.clear);
      // A later query may be of a program that the site does not have.
      if (!output.started && i > 0) continue;
      if (!output.started || output.late) return CallFailed(page_, call, output);
      const auto answer = JobStates(page_, query, call.jobs, {output.out, output.err, output.exit_code});
      if (!answer && i == 0) return Fail(answer.error());
      if (!answer) continue;
      for (const auto& [job, status] : *answer) {
        const auto before = states.find(job);
        states[job] = before == states.end() ? status : CombinedStatus(before->second, status);
      }
    }
    std::erase_if(asked, [&](const std::string& job) {
      const auto known = states.find(job);
      return known != states.end() && known->second.state != JobState::kVanished &&
             known->second.state != JobState::kUnknown;
    });
  }
  return states;
}

Result<void> EngineJobs::Call(const std::vector<EngineCall>& calls) const {
  for (const EngineCall& call : calls) {
    const CommandOutput output = RunEngineCommand(call.words, call.clear);
    if (output.exit_code != 0) return CallFailed(page_, call, output);
  }
  return {};
}

Result<void> EngineJobs::Cancel(std::span<const std::string> jobs) const { return Call(CancelCalls(page_, jobs)); }

Result<void> EngineJobs::Signal(std::span<const std::string> jobs, const std::string& signal) const {
  return page_.signal.empty() ? Cancel(jobs) : Call(SignalCalls(page_, jobs, signal));
}

Result<void> EngineJobs::Requeue(std::span<const std::string> jobs) const { return Call(RequeueCalls(page_, jobs)); }

Result<void> EngineJobs::Exclude(std::span<const std::string> jobs, std::span<const std::string> hosts) const {
  return Call(ExcludeCalls(page_, jobs, hosts));
}

std::chrono::milliseconds JobPolling::After(bool changed, bool answered) {
  if (changed && answered) next_ = kFirst;
  return std::exchange(next_, std::min(next_ * 3 / 2, kMax));
}

bool OverTest::Has(JobState state) {
  constexpr std::chrono::seconds kVanishes{30};
  const auto now = std::chrono::steady_clock::now();
  if (state != JobState::kVanished) {
    vanished_.reset();
    return IsOver(state);
  }
  if (!vanished_) vanished_ = now;
  return now - *vanished_ >= kVanishes;
}

std::string StatusText(const JobStatus& status) {
  std::string text(JobStateName(status.state));
  std::replace(text.begin(), text.end(), '_', ' ');
  // The reason of a cancelled job is still the one for which it was in the queue.
  if (!status.reason.empty() && status.state != JobState::kCancelled) text += ": " + Printable(status.reason);
  const bool placed = status.state == JobState::kRunning || status.state == JobState::kEnding;
  if (placed && !status.hosts.empty()) text += " on " + Printable(status.hosts);
  return text;
}

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
  const UniqueFd file(::open(kJobOutputEntry.In(job.first_dir).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const off_t size = file ? ::lseek(file.get(), 0, SEEK_END) : 0;
  if (size <= 0) return {};
  to = std::min(to, static_cast<std::uint64_t>(size));
  if (to <= from) return {};
  if (to - from > kOutputTail) from = to - kOutputTail;
  return BytesAt(file.get(), from, to - from);
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
  return std::filesystem::file_size(kJournalEntry.In(run_dir), error) > 0 && !error;
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
  if (std::filesystem::exists(kJobOutputEntry.In(run_dir), error)) {
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

namespace {

QueuedRun Described(const JobOfRun& job, const std::string& run_dir) {
  const auto attempts = ReadAttempts(job.first_dir);
  QueuedRun run;
  run.name = job.record.name;
  run.run = job.record.run;
  run.run_dir = run_dir;
  run.submitted_at = job.record.submitted_at;
  run.engine = job.jobs.page().name;
  run.job = job.id;
  run.attempt = attempts.size() + 1;
  return run;
}

void SetState(QueuedRun& run, const Result<std::map<std::string, JobStatus>>& states) {
  const auto status = states ? states->find(run.job) : std::map<std::string, JobStatus>::const_iterator();
  if (!states || status == states->end()) {
    run.state = "unknown";
    run.reason = states ? "the id of the job is not known" : Sentence(states.error());
    return;
  }
  run.state = JobStateName(status->second.state);
  run.reason = status->second.reason;
}

// Whether the directory is that of an attempt that waits: of the first, or of the last one before the next.
bool Waits(const JobOfRun& job, const std::string& run_dir) {
  if (NewestAttempt(job) != run_dir || IsRunLive(run_dir)) return false;
  const auto attempts = ReadAttempts(job.first_dir);
  return !HasBegun(run_dir) || (!attempts.empty() && attempts.back().requeued);
}

}  // namespace

std::vector<std::string> MayBeQueued(const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  std::error_code error;
  const auto add = [&](const std::string& run_dir) {
    if (std::filesystem::is_regular_file(kJobEntry.In(run_dir), error) &&
        !std::filesystem::exists(kJobEndEntry.In(run_dir), error)) {
      found.push_back(run_dir);
    }
  };
  for (const std::string& folder : folders) {
    if (std::filesystem::is_regular_file(kPlanEntry.In(folder), error)) {
      add(folder);
      continue;
    }
    for (const FoundRun& run : RunsBelow(folder)) add(run.path);
  }
  return found;
}

JobsOfRuns AskAboutJobs(const std::vector<std::string>& run_dirs) {
  struct Engine {
    std::optional<EngineJobs> jobs;
    std::vector<QueuedRun> runs;
    std::vector<std::pair<std::string, std::string>> begun;  // directory and job
  };
  std::map<std::pair<std::string, std::string>, Engine> engines;
  for (const std::string& run_dir : run_dirs) {
    const auto job = FindJobOfRun(run_dir);
    if (!job || !*job) continue;
    const bool waits = Waits(**job, run_dir);
    if (!waits && ((*job)->id.empty() || !IsRunLive(run_dir))) continue;
    Engine& engine = engines[{(*job)->record.engine, (*job)->record.page}];
    if (!engine.jobs) engine.jobs = (*job)->jobs;
    if (waits) {
      engine.runs.push_back(Described(**job, run_dir));
    } else {
      engine.begun.emplace_back(run_dir, (*job)->id);
    }
  }
  JobsOfRuns found;
  for (auto& [page, engine] : engines) {
    std::vector<std::string> ids;
    for (const QueuedRun& run : engine.runs) {
      if (!run.job.empty()) ids.push_back(run.job);
    }
    for (const auto& [run_dir, job] : engine.begun) ids.push_back(job);
    const auto states = engine.jobs->States(ids);
    for (const auto& [run_dir, job] : engine.begun) {
      const auto known = states ? states->find(job) : std::map<std::string, JobStatus>::const_iterator();
      if (states && known != states->end() && known->second.state == JobState::kSuspended) {
        found.suspended.insert(run_dir);
      }
    }
    for (QueuedRun& run : engine.runs) {
      SetState(run, states);
      const auto known = states ? states->find(run.job) : std::map<std::string, JobStatus>::const_iterator();
      if (!states || known == states->end() || !IsOver(known->second.state)) {
        found.queued.push_back(std::move(run));
      } else if (const auto job = FindJobOfRun(run.run_dir); job && *job) {
        SettleEnd(**job, run.run_dir, known->second);  // asked about only once
      }
    }
  }
  return found;
}

std::optional<QueuedRun> NotBegun(const std::string& run_dir) {
  if (HasBegun(run_dir)) return std::nullopt;
  const auto job = FindJobOfRun(run_dir);
  if (!job || !*job) return std::nullopt;
  QueuedRun run = Described(**job, run_dir);
  if (const auto end = ReadJobEnd(run_dir)) {
    run.state = end->state;
    run.reason = end->reason;
    return run;
  }
  const std::vector<std::string> ids = {run.job};
  const auto states = run.job.empty() ? Result<std::map<std::string, JobStatus>>() : (*job)->jobs.States(ids);
  SetState(run, states);
  if (states && states->contains(run.job)) SettleEnd(**job, run_dir, states->at(run.job));
  return run;
}

std::string QueueText(const QueuedRun& run) {
  return Printable(run.state) + (run.reason.empty() ? "" : ": " + Printable(run.reason));
}

std::string QueueSentence(const QueuedRun& run) {
  const std::string job = Printable(run.engine) + " job " + (run.job.empty() ? "(unknown)" : Printable(run.job)) + " ";
  for (const JobState state :
       {JobState::kQueued, JobState::kRunning, JobState::kSuspended, JobState::kEnding, JobState::kUnknown}) {
    if (run.state == JobStateName(state)) return job + "is " + QueueText(run);
  }
  // The reason of a cancelled job is still the one for which it was in the queue.
  const bool reason = !run.reason.empty() && run.state != JobStateName(JobState::kCancelled);
  return job + JobEndText(run.state, {}) + (reason ? ": " + Printable(run.reason) : "");
}

}  // namespace muster
