#include "cli/launch/submit_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "base/system/known_secrets.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "cli/command/command_output.h"
#include "cli/command/small_file.h"
#include "cli/jobs/follow_job.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/recipe_options.h"
#include "cli/options/start_settings.h"
#include "plan/text/plan_text.h"
#include "run/directory/job_record.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_files.h"
#include "run/directory/run_tags.h"
#include "run/directory/runtime_directory.h"
#include "run/journal/run_history.h"
#include "run/journal/run_summary.h"
#include "run/report/report.h"
#include "run/start/start_specs.h"
#include "run/supervise/verdict.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kRunIdBytes = 6;

struct Submitted {
  std::string run;
  std::string run_dir;
};

// The script of the job that runs in that directory.
Result<void> CompleteCall(const RunOptions& options, const Plan& plan, const std::string& run_dir, BatchCall& call) {
  call.job.output = kJobOutputEntry.In(run_dir);
  return CompleteBatchCall(call, plan, "run", options.words, {"--detach", "-d"}, {"--submitted", run_dir});
}

// Writes everything that defines the run, and job.sh.
Result<void> FillDirectory(const RunOptions& options, const RunRequest& request, const Submitted& made,
                           const std::map<std::string, std::string>& secrets, int folder, BatchCall& call) {
  if (auto done = CompleteCall(options, request.plan, made.run_dir, call); !done) return done;
  const auto inherited = RecordedVariables(request.environment, HiddenValues(request.plan, secrets));
  const std::string text = PlanText(request.plan);
  if (auto written = WriteRunFiles(
          folder,
          {request.plan, PlanIdOfText(text), request.inputs, request.evaluation, inherited, request.sources, {}, text});
      !written) {
    return Fail(written.error());
  }
  if (auto tagged = WriteTags(folder, request.tags); !tagged) return tagged;
  const RequeueRule requeue = RequeueOf(call.page, call.settings);
  JobRecord record;
  record.engine = call.page.name;
  record.page = AbsolutePath(options.source.recipe.engine.page);
  record.run = made.run;
  record.name = request.plan.name;
  record.submitted_at = UtcText(WallNowNs());
  record.requeue_on.assign(requeue.on.begin(), requeue.on.end());
  record.requeue_max = requeue.max;
  record.parent = request.parent;
  record.resumed = request.resumed;
  record.checkpoint = request.checkpoint;
  if (auto written = WriteJobRecord(folder, record); !written) return written;
  return WriteNewFile(folder, kJobScriptEntry.name, call.script);
}

// The run directory, ready for the head. Its lock is released: the head takes it.
Result<Submitted> PrepareDirectory(const RunOptions& options, BatchCall& call, const RunRequest& request) {
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  const bool for_group = site->facts.access == SiteAccess::kGroup;
  auto runs_folder = DefaultRunsFolder();
  if (!runs_folder) return Fail(runs_folder.error());
  const auto secrets = ResolveSecrets(request.plan, request.environment);
  if (!secrets) return Fail(secrets.error());
  for (const auto& [name, value] : *secrets) HideFromNowOn(value);
  // What a script cannot hold is refused before anything is made.
  BatchCall tried = call;
  const std::string run_dir = options.run_dir.empty() ? *runs_folder + "/new" : options.run_dir;
  if (auto done = CompleteCall(options, request.plan, AbsolutePath(run_dir), tried); !done) return Fail(done.error());
  Submitted made{RandomHex(kRunIdBytes), {}};
  const auto directory = options.run_dir.empty() ? RunDirectory::MakeBelow(*runs_folder, request.plan.name,
                                                                           StampText(WallNowNs()), made.run, for_group)
                                                 : RunDirectory::MakeAt(options.run_dir, for_group);
  if (!directory) return Fail(directory.error());
  made.run_dir = directory->path();
  if (const auto way = OpenWayTo(made.run_dir)) {
    PrintDiagnostics({Warning("run_dir", {}, fmt::format("{}: {}", way->why, kOpenWay), way->hint)});
  }
  if (auto filled = FillDirectory(options, request, made, *secrets, directory->folder(), call); !filled) {
    DiscardDirectory(made.run_dir);
    return Fail(filled.error());
  }
  return made;
}

// Fills what the run consists of: its plan for the hosts that are requested.
Result<BatchCall> FillRequest(const RunOptions& options, const CheckedStart& checked, RunRequest& request) {
  std::optional<AllocationNeeds> needs;
  if (!options.source.plan_file.empty()) {
    RunRequest given;
    PlanSource only = options.source;
    only.recipe.engine = EngineOptions();
    only.recipe.engine.on = "local";
    if (auto filled = FillPlan(only, given); !filled) return Fail(filled.error());
    needs = AllocationNeeds{static_cast<std::uint32_t>(given.plan.hosts.size())};
  }
  auto call = AllocationFor(options.source.recipe, std::move(needs));
  if (!call) return call;
  PlanSource source = options.source;
  source.recipe = call->asking;
  auto filled = FillPlan(source, request);
  if (filled) filled = ApplyPlanChanges(request.plan, options.changes);
  if (filled) filled = ApplyNotify(request.plan, checked.notify);
  if (filled) filled = SetCallerEnvironment(request);
  if (!filled) return Fail(filled.error());
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  if (const auto rules = ReadVerdictRules(site->facts); !rules) return Fail(rules.error());
  request.tags = checked.tags;
  return call;
}

}  // namespace

int SubmitRun(const RunOptions& options, const CheckedStart& checked) {
  RunRequest request;
  auto call = FillRequest(options, checked, request);
  if (!call) return Refuse(call.error());
  const auto made = PrepareDirectory(options, *call, request);
  if (!made) return Refuse(made.error());
  const EngineJobs jobs(call->page);
  const auto id = jobs.Submit(kJobScriptEntry.In(made->run_dir), call->script);
  if (!id) {
    DiscardDirectory(made->run_dir);
    return Refuse(id.error());
  }
  const UniqueFd folder(::open(PrintableLines(made->run_dir).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (auto written = WriteJobId(folder.get(), *id); !written) PrintDiagnostics(written.error());
  const auto job = FindJobOfRun(made->run_dir);
  if (!job || !*job) return Refuse(job ? Diagnostics{} : job.error());
  if (options.detach) {
    std::fprintf(stderr, "muster: submitted as %s\n", PrintableLines((*job)->Text()).c_str());
    std::printf("%s %s\n", made->run.c_str(), PrintableLines(made->run_dir).c_str());
    return kExitOk;
  }
  if (!options.quiet) {
    std::fprintf(stderr, "muster: submitted as %s; Ctrl-C stops it, muster watch %s follows it again\n",
                 PrintableLines((*job)->Text()).c_str(), made->run.c_str());
    std::fprintf(stderr, "muster: run %s in %s\n", made->run.c_str(), Printable(made->run_dir).c_str());
  }
  return FollowJob(**job, 0, {.console = ConsoleFor(options), .json = false, .interrupt_stops = true});
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kTimeLimit = "time_limit";
constexpr const char* kPreempted = "preempted";
constexpr const char* kNodeFail = "node_fail";
constexpr const char* kFailed = "failed";

constexpr std::chrono::milliseconds kRequeuedWithin = std::chrono::seconds(30);

UniqueFd OpenRunFolder(const std::string& run_dir) {
  return UniqueFd(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// SIGTERM, by which the engine ends this process once it has requeued the job, waits meanwhile.
class HeldTermination {
 public:
  HeldTermination() {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, &before_);
  }
  HeldTermination(const HeldTermination&) = delete;
  HeldTermination& operator=(const HeldTermination&) = delete;
  ~HeldTermination() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_ = {};
};

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
  const auto printed = fs::file_size(kJobOutputEntry.In(job_.first_dir), error);
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
  const std::vector<std::string>& on = job_.record.requeue_on;
  if (outcome.outcome == "failed" && std::find(on.begin(), on.end(), kFailed) != on.end()) return kFailed;
  return {};
}

// Gives a verdict on the last failure of this attempt, after those of the attempts before. Without one, as of a program
// that does not exist, a requeue cannot help.
bool SubmittedRun::FollowsVerdict() {
  std::vector<FailureJudged> failures;
  std::size_t before = 0;
  for (const JobAttempt& attempt : attempts_) {
    before = failures.size();
    const auto recorded = ReadRun(attempt.run_dir);
    if (!recorded) continue;  // of an attempt that was deleted: it says nothing
    failures.insert(failures.end(), recorded->history.judged.begin(), recorded->history.judged.end());
  }
  if (failures.size() == before) return false;
  for (FailureJudged& failure : failures) {
    failure.alone = false;  // a requeue starts all processes
    failure.replaceable = !job_.jobs.page().requeue->exclude.empty();
  }
  const auto site = GetSite();
  const auto rules = site ? ReadVerdictRules(site->facts) : Result<std::vector<VerdictRule>>(Fail(site.error()));
  if (!rules) {
    PrintDiagnostics(rules.error());
    return false;
  }
  const GivenVerdict given = GiveVerdict(failures, *rules);
  JobAttempt& attempt = attempts_.back();
  attempt.verdict = RestartVerdictName(given.verdict);
  attempt.evidence = given.evidence;
  if (given.verdict == RestartVerdict::kExcludeHost) attempt.excluded = failures.back().host_name;
  return given.verdict != RestartVerdict::kStop;
}

// The hosts that verdicts have excluded, of the job that was requeued.
void SubmittedRun::Exclude() const {
  std::vector<std::string> hosts;
  for (const JobAttempt& attempt : attempts_) {
    if (!attempt.excluded.empty()) hosts.push_back(attempt.excluded);
  }
  if (hosts.empty()) return;
  // The engine takes a moment until the job is in the queue again, where it can be changed.
  constexpr std::chrono::milliseconds kRetry{300};
  constexpr int kTries = 50;
  const std::array jobs = {job_.id};
  for (int tried = 1;; ++tried) {
    const auto excluded = job_.jobs.Exclude(jobs, hosts);
    if (excluded) return;
    if (tried == kTries) return PrintDiagnostics(excluded.error());
    ::poll(nullptr, 0, static_cast<int>(kRetry.count()));
  }
}

void SubmittedRun::Ended(const RunOutcome& outcome) {
  const std::string end = EndOf(outcome);
  if (end.empty()) return;
  const bool helps = end != kFailed || FollowsVerdict();
  const bool follows = helps && MayFollow(end, attempts_.size());
  // The engine may not agree that a node is lost: without another attempt there is only the report's cause.
  if (!follows && end == kNodeFail) return;
  JobAttempt& attempt = attempts_.back();
  if (follows || end != kFailed) attempt.end = end;  // else the allocation ends because the run has
  attempt.requeued = follows;
  if (end == kNodeFail) attempt.lost = outcome.unheard_host;
  if (auto written = WriteAttempts(job_.first_dir, attempts_); !written) return PrintDiagnostics(written.error());
  const UniqueFd folder = OpenRunFolder(outcome.run_dir);
  WriteReportFiles(folder.get(), outcome.run_dir);
  if (!follows) {
    if (!helps) {
      const std::string why = attempt.evidence.empty() ? "nothing is known about its failure" : attempt.evidence;
      std::fprintf(stderr, "muster: %s is not requeued: %s\n", PrintableLines(job_.Text()).c_str(),
                   Printable(why).c_str());
    }
    return;
  }
  const std::string why = end == kPreempted   ? "it is being preempted"
                          : end == kTimeLimit ? "its time limit is near"
                          : end == kFailed    ? "it failed, and " + Printable(attempt.evidence)
                                              : "it lost the node " + Printable(outcome.unheard_host);
  std::fprintf(stderr, "muster: requeueing %s: %s\n", PrintableLines(job_.Text()).c_str(), PrintableLines(why).c_str());
  const std::array jobs = {job_.id};
  auto requeued = [&] {
    const HeldTermination held;
    auto done = job_.jobs.Requeue(jobs);
    if (done) Exclude();
    return done;
  }();
  if (requeued) return AwaitRequeue();
  // The engine may have been faster: it requeues by itself after a preemption, and when it finds a node lost.
  if (const auto status = StateOf(job_); status && status->state == JobState::kQueued) return;
  attempt.requeued = false;
  static_cast<void>(WriteAttempts(job_.first_dir, attempts_));
  WriteReportFiles(folder.get(), outcome.run_dir);
  PrintDiagnostics(requeued.error());
}

}  // namespace muster
