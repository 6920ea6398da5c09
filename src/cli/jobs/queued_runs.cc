#include "cli/jobs/queued_runs.h"

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/diagnostic_text.h"
#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "cli/jobs/job_of_run.h"
#include "run/directory/run_directory.h"

namespace muster {
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

std::string JsonSafe(const std::string& text) { return IsUtf8(text) ? text : Printable(text); }

}  // namespace

std::vector<std::string> MayBeQueued(const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  std::error_code error;
  const auto add = [&](const std::string& run_dir) {
    if (std::filesystem::is_regular_file(run_dir + "/job.json", error) &&
        !std::filesystem::exists(run_dir + "/job_end.json", error)) {
      found.push_back(run_dir);
    }
  };
  for (const std::string& folder : folders) {
    if (std::filesystem::is_regular_file(folder + "/plan.json", error)) {
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

nlohmann::json QueuedJson(const QueuedRun& run) {
  return {{"run", run.run},
          {"name", JsonSafe(run.name)},
          {"run_dir", JsonSafe(run.run_dir)},
          {"submitted_at", run.submitted_at},
          {"engine", run.engine},
          {"job", JsonSafe(run.job)},
          {"attempt", run.attempt},
          {"outcome", run.state},
          {"reason", JsonSafe(run.reason)}};
}

}  // namespace muster
