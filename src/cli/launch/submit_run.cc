#include "cli/launch/submit_run.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/known_secrets.h"
#include "base/values/fingerprint.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/jobs/follow_job.h"
#include "cli/jobs/job_of_run.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/caller_environment.h"
#include "cli/options/log_limit_option.h"
#include "cli/options/notify_option.h"
#include "cli/options/wrap_option.h"
#include "plan/text/plan_text.h"
#include "run/directory/environment_record.h"
#include "run/directory/hidden_values.h"
#include "run/directory/job_record.h"
#include "run/directory/open_way.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_files.h"
#include "run/directory/run_tags.h"
#include "run/session/run_request.h"
#include "run/start/start_specs.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kRunIdBytes = 6;

struct Submitted {
  std::string run;
  std::string run_dir;
};

// A file of the call, from wherever it is read again.
std::string Absolute(const std::string& path) {
  std::error_code error;
  return path.empty() ? path : std::filesystem::absolute(path, error).lexically_normal().string();
}

// The script of the job that runs in that directory.
Result<void> CompleteCall(const RunSubmission& submission, const Plan& plan, const std::string& run_dir,
                          BatchCall& call) {
  call.job.output = run_dir + "/" + kJobOutputEntry.name;
  return CompleteBatchCall(call, plan, "run", submission.words, {"--detach", "-d"}, {"--submitted", run_dir});
}

// Writes everything that defines the run, and job.sh.
Result<void> FillDirectory(const RunSubmission& submission, const RunRequest& request, const Submitted& made,
                           const std::map<std::string, std::string>& secrets, int folder, BatchCall& call) {
  if (auto done = CompleteCall(submission, request.plan, made.run_dir, call); !done) return done;
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
  record.page = Absolute(submission.source.recipe.engine.page);
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
Result<Submitted> PrepareDirectory(const RunSubmission& submission, BatchCall& call, const RunRequest& request) {
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
  const std::string run_dir = submission.run_dir.empty() ? *runs_folder + "/new" : submission.run_dir;
  if (auto done = CompleteCall(submission, request.plan, Absolute(run_dir), tried); !done) return Fail(done.error());
  Submitted made{RandomHex(kRunIdBytes), {}};
  const auto directory =
      submission.run_dir.empty()
          ? RunDirectory::MakeBelow(*runs_folder, request.plan.name, StampText(WallNowNs()), made.run, for_group)
          : RunDirectory::MakeAt(submission.run_dir, for_group);
  if (!directory) return Fail(directory.error());
  made.run_dir = directory->path();
  if (const auto way = OpenWayTo(made.run_dir)) {
    PrintDiagnostics({Warning("run_dir", {}, fmt::format("{}: {}", way->why, kOpenWay), way->hint)});
  }
  if (auto filled = FillDirectory(submission, request, made, *secrets, directory->folder(), call); !filled) {
    DiscardDirectory(made.run_dir);
    return Fail(filled.error());
  }
  return made;
}

// Fills what the run consists of: its plan for the hosts that are requested.
Result<BatchCall> FillRequest(RunSubmission& submission, RunRequest& request) {
  std::optional<AllocationNeeds> needs;
  if (!submission.source.plan_file.empty()) {
    RunRequest given;
    PlanSource only = submission.source;
    only.recipe.engine = EngineOptions();
    only.recipe.engine.on = "local";
    if (auto filled = FillPlan(only, given); !filled) return Fail(filled.error());
    needs = AllocationNeeds{static_cast<std::uint32_t>(given.plan.hosts.size())};
  }
  auto call = AllocationFor(submission.source.recipe, std::move(needs));
  if (!call) return call;
  PlanSource source = submission.source;
  source.recipe = call->asking;
  const auto notify = ParseNotify(submission.notify);
  if (!notify) return Fail(notify.error());
  auto filled = FillPlan(source, request);
  if (filled) filled = ApplyWraps(request.plan, submission.wraps);
  if (filled) filled = ApplyLogLimit(request.plan, submission.log_max);
  if (filled) filled = ApplyNotify(request.plan, *notify);
  if (filled) filled = SetCallerEnvironment(request);
  if (!filled) return Fail(filled.error());
  for (const std::string& tag : submission.tags) {
    if (auto sound = CheckTag(tag); !sound) return Fail(sound.error());
  }
  auto tags = ChangedTags({}, submission.tags);
  if (!tags) return Fail(tags.error());
  request.tags = *std::move(tags);
  return call;
}

}  // namespace

int SubmitRun(RunSubmission submission) {
  RunRequest request;
  auto call = FillRequest(submission, request);
  if (!call) return Refuse(call.error());
  const auto made = PrepareDirectory(submission, *call, request);
  if (!made) return Refuse(made.error());
  const EngineJobs jobs(call->page);
  const auto id = jobs.Submit(made->run_dir + "/" + kJobScriptEntry.name, call->script);
  if (!id) {
    DiscardDirectory(made->run_dir);
    return Refuse(id.error());
  }
  const UniqueFd folder(::open(PrintableLines(made->run_dir).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (auto written = WriteJobId(folder.get(), *id); !written) PrintDiagnostics(written.error());
  const auto job = FindJobOfRun(made->run_dir);
  if (!job || !*job) return Refuse(job ? Diagnostics{} : job.error());
  if (submission.detach) {
    std::fprintf(stderr, "muster: submitted as %s\n", PrintableLines((*job)->Text()).c_str());
    std::printf("%s %s\n", made->run.c_str(), PrintableLines(made->run_dir).c_str());
    return kExitOk;
  }
  if (!submission.console.quiet) {
    std::fprintf(stderr, "muster: submitted as %s; Ctrl-C stops it, muster watch %s follows it again\n",
                 PrintableLines((*job)->Text()).c_str(), made->run.c_str());
    std::fprintf(stderr, "muster: run %s in %s\n", made->run.c_str(), Printable(made->run_dir).c_str());
  }
  return FollowJob(**job, 0, {.console = submission.console, .json = false, .interrupt_stops = true});
}

}  // namespace muster
