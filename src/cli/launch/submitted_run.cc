#include "cli/launch/submitted_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include "base/system/host_name.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/stored_recipe.h"
#include "cli/options/resume.h"
#include "plan/text/plan_text.h"
#include "run/directory/run_tags.h"
#include "run/journal/run_summary.h"
#include "run/report/report_files.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTimeLimit = "time_limit";
constexpr const char* kPreempted = "preempted";
constexpr const char* kNodeFail = "node_fail";

constexpr std::chrono::milliseconds kRequeuedWithin = std::chrono::seconds(30);

UniqueFd OpenRunFolder(const std::string& run_dir) {
  return UniqueFd(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// The engine ends this process by SIGTERM when it requeues the job. An exit before that would be the end of the job.
void AwaitRequeue() { ::poll(nullptr, 0, static_cast<int>(kRequeuedWithin.count())); }

}  // namespace

Result<std::unique_ptr<SubmittedRun>> SubmittedRun::Open(const std::string& run_dir, const std::string& job) {
  auto found = FindJobOfRun(run_dir);
  if (!found) return Fail(found.error());
  if (!*found) {
    return Fail(Error("run", {}, Quoted(run_dir) + " is not the directory of a submitted run",
                      "muster run RECIPE --on ENGINE, outside of an allocation, makes one"));
  }
  if ((*found)->id != job) {
    if (auto written = WriteJobId(OpenRunFolder(run_dir).get(), job); !written) return Fail(written.error());
    (*found)->id = job;
  }
  std::unique_ptr<SubmittedRun> run(new SubmittedRun(**std::move(found), ReadAttempts(run_dir)));
  if (run->is_first()) return run;
  if (auto settled = run->SettleLast(); !settled) return Fail(settled.error());
  return run;
}

bool SubmittedRun::MayFollow(const std::string& end, std::size_t attempts) const {
  const std::vector<std::string>& on = job_.record.requeue_on;
  // Somebody who requeues the job by hand asks for it.
  const bool wanted = end == "requeued" || std::find(on.begin(), on.end(), end) != on.end();
  return wanted && attempts <= job_.record.requeue_max;
}

Result<void> SubmittedRun::SettleLast() {
  JobAttempt& last = attempts_.back();
  if (last.end.empty()) last.end = SettleEnd(job_, last.run_dir, std::nullopt);
  if (last.end.empty()) {
    // The engine had no time to write anything, and neither had the head.
    const auto summary = SummarizeRun(last.run_dir, false);
    last.end = !summary || summary->outcome == "lost" ? kNodeFail : "requeued";
  }
  last.requeued = MayFollow(last.end, attempts_.size());
  if (auto written = WriteAttempts(job_.first_dir, attempts_); !written) return written;
  if (last.requeued) return {};
  return Fail(MachineError(
      "requeue",
      fmt::format("{} started the run again, and attempt {} is not followed by another: its allocation ended with {}",
                  job_.Text(), attempts_.size(), last.end),
      fmt::format("requeue = {{ on = {{ \"{}\" }}, max = {} }}", last.end, attempts_.size())));
}

Result<void> SubmittedRun::Fill(const RecipeOptions& options, RunRequest& request) {
  PlanSource source;
  source.recipe.engine = options.engine;
  source.recipe.spares = options.spares;
  source.recipe.without = options.without;
  if (!is_first()) {
    source.recipe.recipe = job_.first_dir;
    source.recipe.resume = attempts_.back().run_dir;
    const auto resumption = FindResumption(source.recipe);
    request.parent = attempts_.back().run;
    if (resumption && EvaluationOfRun(job_.first_dir)) return FillPlan(source, request);
    if (resumption) {
      request.checkpoint = resumption->checkpoint;
      request.resumed = resumption->run;
    } else {
      std::fprintf(stderr, "muster: attempt %zu begins from the start: attempt %zu wrote no checkpoint\n",
                   attempts_.size() + 1, attempts_.size());
    }
  } else {
    request.parent = job_.record.parent;
    request.resumed = job_.record.resumed;
    request.checkpoint = job_.record.checkpoint;
  }
  auto stored = PlanOfRun(job_.first_dir);
  if (!stored) return Fail(stored.error());
  request.plan = std::move(stored->plan);
  request.inputs = std::move(stored->inputs);
  request.evaluation = std::move(stored->evaluation);
  request.sources = std::move(stored->sources);
  if (!UsesCheckpoint(request.plan)) request.checkpoint = request.resumed = {};
  return NameHosts(source.recipe, request.plan);
}

void SubmittedRun::Prepare(RunRequest& request) {
  if (is_first()) {
    request.run_dir = job_.first_dir;
    request.run_id = job_.record.run;
    request.submitted = true;
  } else {
    const fs::path first(job_.first_dir);
    const bool has_place = first.filename().string().ends_with("-" + job_.record.run);
    request.run_dir = has_place ? std::string() : fmt::format("{}.{}", job_.first_dir, attempts_.size() + 1);
    if (has_place) request.runs_folder = first.parent_path().parent_path();
  }
  request.tags = TagsOfRun(job_.first_dir);
  request.on_directory = [this](const std::string& id, const std::string& run_dir) { Record(id, run_dir); };
  request.on_announced = [this] {
    announced_ = true;
    attempts_.back().end = kTimeLimit;
    static_cast<void>(WriteAttempts(job_.first_dir, attempts_));
  };
}

void SubmittedRun::Record(const std::string& run_id, const std::string& run_dir) {
  std::error_code error;
  JobAttempt attempt;
  attempt.run = run_id;
  attempt.run_dir = run_dir;
  attempt.host = OwnHostName();
  const auto printed = fs::file_size(job_.first_dir + "/" + kJobOutputEntry.name, error);
  attempt.output_from = error ? 0 : printed;
  if (!is_first()) {
    JobRecord record = job_.record;
    record.run = run_id;
    record.first = job_.first_dir;
    if (auto written = WriteJobRecord(OpenRunFolder(run_dir).get(), record); !written) {
      PrintDiagnostics(written.error());
    }
  }
  attempts_.push_back(std::move(attempt));
  if (auto written = WriteAttempts(job_.first_dir, attempts_); !written) PrintDiagnostics(written.error());
}

// Why the allocation ends although the run has ended first.
std::string SubmittedRun::EndOf(const RunOutcome& outcome) const {
  if (outcome.outcome == "ok") return {};
  if (outcome.job_end == JobState::kPreempted) return kPreempted;
  if (announced_) return kTimeLimit;
  if (outcome.outcome == "lost" && !outcome.unheard_host.empty()) return kNodeFail;
  return {};
}

void SubmittedRun::Ended(const RunOutcome& outcome) {
  const std::string end = EndOf(outcome);
  if (end.empty()) return;
  const bool follows = MayFollow(end, attempts_.size());
  // The engine may not agree that a node is lost: without another attempt there is only the report's cause.
  if (!follows && end == kNodeFail) return;
  JobAttempt& attempt = attempts_.back();
  attempt.end = end;
  attempt.requeued = follows;
  if (end == kNodeFail) attempt.lost = outcome.unheard_host;
  if (auto written = WriteAttempts(job_.first_dir, attempts_); !written) return PrintDiagnostics(written.error());
  const UniqueFd folder = OpenRunFolder(outcome.run_dir);
  WriteReportFiles(folder.get(), outcome.run_dir);
  if (!follows) return;
  const std::string why = end == kPreempted   ? "it is being preempted"
                          : end == kTimeLimit ? "its time limit is near"
                                              : "it lost the node " + Printable(outcome.unheard_host);
  std::fprintf(stderr, "muster: requeueing %s: %s\n", PrintableLines(job_.Text()).c_str(), PrintableLines(why).c_str());
  const std::array jobs = {job_.id};
  auto requeued = job_.jobs.Requeue(jobs);
  if (requeued) return AwaitRequeue();
  // The engine may have been faster: it requeues by itself after a preemption, and when it finds a node lost.
  if (const auto status = StateOf(job_); status && status->state == JobState::kQueued) return;
  attempt.requeued = false;
  static_cast<void>(WriteAttempts(job_.first_dir, attempts_));
  WriteReportFiles(folder.get(), outcome.run_dir);
  PrintDiagnostics(requeued.error());
}

}  // namespace muster
