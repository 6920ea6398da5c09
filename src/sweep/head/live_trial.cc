#include "sweep/head/live_trial.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "run/directory/run_tags.h"
#include "run/journal/journal.h"
#include "run/journal/run_summary.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/scheduler/stop_rules.h"
#include "sweep/trial/result_file.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// The run of the attempt. Its output goes to its directory.
RunRequest RequestOf(const TrialSetting& setting, const AttemptBegan& began, TrialPlanner::Planned planned,
                     TrialPlace& place) {
  const SweepRequest& sweep = setting.request;
  Evaluation& evaluation = planned.evaluation;
  RunRequest run = sweep.run;
  run.plan = std::move(evaluation.plan);
  run.plan.notifications.clear();  // the sweep notifies, its trials do not
  if (place.hosts.empty()) {
    if (!planned.resumed) run.plan_id = began.plan;  // otherwise that is the id of the plan without job.resume
  } else {
    run.hosts = std::move(place.hosts);
    for (std::size_t i = 0; i < run.hosts.size(); ++i) {
      run.hosts[i].devices = run.plan.hosts[i].devices;
      run.plan.hosts[i].name = run.hosts[i].name;
    }
    run.spares = std::move(place.spares);
    for (SiteHost& spare : run.spares) {
      for (const PlanHost& host : run.plan.hosts)
        spare.devices = std::min(spare.devices.value_or(host.devices), host.devices);
    }
  }
  run.engine = std::move(place.engine);
  if (place.environment) run.environment = *std::move(place.environment);
  EvaluationOptions options = sweep.evaluation;
  AddPoint(began.point, options.overrides);
  if (planned.resumed) {
    options.resumed = run.resumed = run.parent = planned.resumed->run;
    run.checkpoint = planned.resumed->from.checkpoint;
    evaluation.inputs.push_back({"checkpoint", run.checkpoint, {}});
  }
  run.evaluation = sweep.evaluation_record(options);
  run.inputs = InputsValue(evaluation.inputs);
  run.sources = std::move(evaluation.sources);
  run.linked_sources = kRecipeEntry.In(sweep.folder);
  run.shared_python = kPythonEntry.In(sweep.folder);
  run.lockdown = std::move(evaluation.lockdown);
  run.evaluate_ns = evaluation.evaluate_ns;
  run.run_id = began.run_id;
  run.sweep = {{"id", sweep.began.sweep_id},
               {"trial", std::to_string(began.trial)},
               {"attempt", std::to_string(began.attempt + 1)},
               {"point", JsonText(Value(began.point))}};
  run.run_dir = sweep.folder + "/" + TrialFolder(began.id, began.attempt);
  if (began.attempt > 0) {
    const std::string before = sweep.folder + "/" + TrialFolder(began.id, began.attempt - 1);
    run.tags = TagsOfRun(before);
    run.note = NoteOfRun(before);
  }
  run.devices.wait_ms = kWaitForEver;
  run.devices.per_device = sweep.description.budget.per_device.value_or(1);
  run.devices.sweep = sweep.began.sweep_id;
  run.terse = true;
  run.catch_signals = false;
  run.console = ConsoleOptions::Silent();
  return run;
}

std::string NeverReported(const std::string& metric, const std::string& what, const MetricValues& reported) {
  std::vector<std::string> names;
  for (const auto& [name, value] : reported) names.push_back(name);
  std::string why = fmt::format("it never reported {}, {}", metric, what);
  if (names.empty()) return why + fmt::format("; it reported nothing: muster_context.report({}=…) does", metric);
  why += fmt::format("; it reported {}", fmt::join(names, ", "));
  const auto nearest = Nearest(metric, names);
  return nearest ? why + fmt::format(": did you mean {}?", *nearest) : why;
}

constexpr std::size_t kMaxStoppedWords = 200;  // bytes

// Why a successful attempt ended early by its own decision: it reported a text of the name `stopped`. Empty if not.
std::string WhyItStopped(const MetricValues& reported) {
  const auto said = reported.find("stopped");
  const std::string* text = said == reported.end() ? nullptr : said->second.AsString();
  if (text == nullptr || text->empty()) return {};
  return "its script stopped it: " + Printable(Utf8Prefix(*text, kMaxStoppedWords));
}

// For a successful attempt: which required metric is missing; empty if none is.
std::string WhyNoResult(const SweepDescription& sweep, const TrialProgress* progress) {
  if (!sweep.objective) return {};
  const MetricValues reported = progress == nullptr ? MetricValues() : progress->metrics();
  if (progress == nullptr || !progress->loss()) {
    return NeverReported(sweep.objective->metric, "the objective of the sweep", reported);
  }
  if (sweep.second_objective && !reported.contains(sweep.second_objective->metric)) {
    return NeverReported(sweep.second_objective->metric, "the second objective of the sweep", reported);
  }
  for (const MetricConstraint& constraint : sweep.constraints) {
    if (reported.contains(constraint.metric)) continue;
    return NeverReported(constraint.metric, "which a constraint of the sweep goes by", reported);
  }
  if (!sweep.early_stop || progress->resource()) return {};
  return NeverReported(sweep.early_stop->resource, "which early stopping goes by", reported);
}

// Which constraints a successful attempt violates; empty if none.
std::string WhyInfeasible(const SweepDescription& sweep, const MetricValues& reported) {
  std::string why;
  const std::vector<double> excess = ExcessOf(sweep.constraints, reported);
  for (std::size_t i = 0; i < excess.size(); ++i) {
    if (!(excess[i] > 0)) continue;
    const MetricConstraint& constraint = sweep.constraints[i];
    why += fmt::format("{}{} {} violates {}", why.empty() ? "" : ", ", Printable(constraint.metric),
                       Printable(ToText(reported.at(constraint.metric))), Printable(constraint.text));
  }
  return why;
}

}  // namespace

Result<std::unique_ptr<LiveTrial>> LiveTrial::Begin(TrialSetting& setting, const AttemptBegan& began,
                                                    TrialPlanner::Planned planned, TrialPlace place, Calls calls) {
  // The run directory is created by path.
  if (!LeadsTo(setting.request.folder, setting.request.folder_fd)) {
    return Fail(MachineError("sweep", fmt::format("the sweep's directory {} was moved, removed or replaced",
                                                  Quoted(setting.request.folder))));
  }
  // The journal has no such attempt: the folder is of one whose record was lost in a power failure.
  const std::string folder = TrialFolder(began.id, began.attempt);
  if (EntryExists(setting.request.folder_fd, folder)) {
    std::error_code ignored;
    std::filesystem::remove_all(setting.request.folder + "/" + folder, ignored);
  } else if (!EntryExists(setting.request.folder_fd, folder.substr(0, folder.rfind('/')))) {
    if (auto made = MakeFolderOf(setting.request.folder_fd, folder); !made) return Fail(made.error());
  }
  std::unique_ptr<LiveTrial> trial(new LiveTrial(setting, std::move(place.transport), std::move(calls)));
  trial->began_ns_ = MonotonicNowNs();
  RunRequest request = RequestOf(setting, began, std::move(planned), place);
  trial->run_dir_ = request.run_dir;
  trial->host_names_ = began.hosts;
  for (const SiteHost& spare : request.spares) trial->host_names_.push_back(spare.name);
  trial->plan_ = std::make_shared<Plan>(request.plan);
  request.on_wait = [trial = trial.get()](const std::string&, const std::string&, const std::string& holders) {
    trial->OnWait(holders);
  };
  auto run = RunInProgress::Begin(setting.io, std::move(request), *trial->transport_,
                                  [trial = trial.get()](const RunOutcome& outcome) { trial->calls_.ended(outcome); });
  if (!run) return Fail(run.error());
  trial->run_ = *std::move(run);
  trial->WatchMetrics(*trial->plan_);
  return trial;
}

MetricsWatch::Run WatchedTrial(const TrialSetting& setting, const Plan& plan, std::string run_dir) {
  const SweepDescription& sweep = setting.request.description;
  MetricsWatch::Run watched;
  watched.run_dir = std::move(run_dir);
  if (!setting.patterns.empty()) {
    if (const auto logging = LoggingProcess(plan, sweep.metrics, sweep.metrics.place)) {
      watched.patterns = &setting.patterns;
      watched.log_of = ProcessName(plan, plan.processes[*logging]);
    }
  }
  if (sweep.early_stop) watched.resource = sweep.early_stop->resource;
  return watched;
}

void LiveTrial::WatchMetrics(const Plan& plan) {
  const SweepDescription& sweep = setting_.request.description;
  MetricsWatch::Run watched = WatchedTrial(setting_, plan, run_dir_);
  watched.report = calls_.report;
  watched.at_once = sweep.objective || sweep.early_stop;  // otherwise no decision follows from a report
  metrics_ = setting_.watch.Watch(std::move(watched));
}

// Waiting does not count as its run time.
void LiveTrial::OnWait(const std::string& holders) {
  waits_ = !holders.empty();
  if (!waits_) began_ns_ = MonotonicNowNs();
  calls_.waits(holders);
}

void LiveTrial::FollowMetrics() {
  if (metrics_) metrics_->Follow();
}

void LiveTrial::StopEarly(const std::string& why) {
  if (!stopped_early_.empty() || !interrupted_.empty()) return;
  stopped_early_ = why;
  run_->Stop(false);
}

void LiveTrial::Interrupt(bool now, const std::string& why) {
  if (interrupted_.empty()) interrupted_ = why;
  run_->Stop(now);
}

void LiveTrial::TakeLastReports() {
  metrics_->Finish();
  const MetricsChoice& choice = setting_.request.description.metrics;
  if (choice.result_file.empty()) return;
  if (const auto results = ReadResultFile(*plan_, choice, run_dir_, setting_.request.run.cwd)) calls_.report(*results);
}

std::uint64_t LiveTrial::ran_ms() const {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  return waits_ ? 0 : (MonotonicNowNs() - began_ns_) / kNsPerMs;
}

TrialScheduler::AttemptEnd LiveTrial::End(const RunOutcome& outcome, const TrialProgress* progress) const {
  TrialScheduler::AttemptEnd end;
  end.ms = ran_ms();
  if (progress != nullptr && progress->diverged() && interrupted_.empty()) {
    end.trial_class = TrialClass::kDiverged;
    end.why = stopped_early_.empty() ? "its objective is not a finite number" : stopped_early_;
  } else if (outcome.outcome != "ok" && !interrupted_.empty()) {
    end.interrupted = true;
    end.why = interrupted_;
  } else if (outcome.outcome == "stopped" && (!outcome.stopped_by_engine || !stopped_early_.empty())) {
    end.trial_class = TrialClass::kStopped;
    end.why = stopped_early_.empty() ? "another command stopped it" : stopped_early_;
  } else if (outcome.outcome != "ok") {
    TrialEnding ending = ClassOfRun(*plan_, outcome, setting_.classes, host_names_);
    end.trial_class = ending.trial_class;
    end.blamed = std::move(ending.blamed);
    end.why = std::move(ending.why);
    end.judged = std::move(ending.judged);
  } else if (std::string by_itself = progress == nullptr ? "" : WhyItStopped(progress->metrics()); !by_itself.empty()) {
    end.trial_class = TrialClass::kStopped;
    end.why = std::move(by_itself);
  } else if (std::string why = WhyNoResult(setting_.request.description, progress); !why.empty()) {
    end.trial_class = TrialClass::kNoResult;
    end.why = std::move(why);
  } else if (const auto& second = setting_.request.description.second_objective;
             second && progress != nullptr && !LossOf(*second, progress->metrics())) {
    end.trial_class = TrialClass::kDiverged;
    end.why = "its " + Printable(second->metric) + " is not a finite number";
  } else if (std::string violated =
                 progress == nullptr ? "" : WhyInfeasible(setting_.request.description, progress->metrics());
             !violated.empty()) {
    end.trial_class = TrialClass::kInfeasible;
    end.why = std::move(violated);
  }
  return end;
}

TrialScheduler::AttemptEnd RecoverAttemptEnd(TrialSetting& setting, const std::string& id, std::uint32_t attempt) {
  const SweepDescription& sweep = setting.request.description;
  const std::string run_dir = setting.request.folder + "/" + TrialFolder(id, attempt);
  const auto run = SummarizeRun(run_dir, false);
  TrialScheduler::AttemptEnd lost;
  lost.interrupted = true;
  if (!run) return lost;
  lost.ms = static_cast<std::uint64_t>(run->seconds * 1000);
  if (run->outcome != "ok") return lost;
  // Metrics from a log or a result file need the plan, which only an evaluation gives: retry the attempt instead.
  if (!sweep.metrics.patterns.empty() || !sweep.metrics.result_file.empty()) return lost;
  TrialScheduler::AttemptEnd end;
  end.ms = static_cast<std::uint64_t>(run->seconds * 1000);
  MetricsWatch::Run watched;
  watched.run_dir = run_dir;
  watched.report = [&](const MetricValues& report) {
    for (const auto& [metric, value] : report) end.metrics[metric] = value;
  };
  setting.watch.Watch(std::move(watched))->Finish();
  if (end.why = WhyItStopped(end.metrics); !end.why.empty()) end.trial_class = TrialClass::kStopped;
  if (!sweep.objective) return end;
  const auto reported = end.metrics.find(sweep.objective->metric);
  const auto number = reported == end.metrics.end() ? std::nullopt : FiniteNumber(reported->second);
  if (!number) return lost;  // it diverged or has no result; a retry decides
  if (sweep.early_stop && !end.metrics.contains(sweep.early_stop->resource)) return lost;
  if (sweep.second_objective && !LossOf(*sweep.second_objective, end.metrics)) return lost;
  for (const MetricConstraint& constraint : sweep.constraints) {
    if (!end.metrics.contains(constraint.metric)) return lost;
  }
  end.loss = sweep.objective->maximize ? -*number : *number;
  if (end.trial_class != TrialClass::kOk) return end;
  if (end.why = WhyInfeasible(sweep, end.metrics); !end.why.empty()) end.trial_class = TrialClass::kInfeasible;
  return end;
}

std::optional<FailureJudged> LastFailureOf(const std::string& folder, const AttemptBegan& attempt) {
  std::optional<FailureJudged> last;
  ReadJournal(folder + "/" + TrialFolder(attempt.id, attempt.attempt) + "/" + kJournalEntry.name,
              [&](JournalRecord record) {
                if (auto* const judged = std::get_if<FailureJudged>(&record.entry)) last = std::move(*judged);
                return true;
              });
  return last;
}

void ReplayEarlierReports(TrialSetting& setting, const SweepProgress& progress, const AttemptBegan& began,
                          const Plan& plan, const std::function<void(const MetricValues&)>& report) {
  const auto open = progress.open().find(began.trial);
  if (began.resumed.checkpoint.empty() || open == progress.open().end()) return;
  for (std::uint32_t earlier = open->second.first; earlier < began.attempt; ++earlier) {
    MetricsWatch::Run watched =
        WatchedTrial(setting, plan, setting.request.folder + "/" + TrialFolder(began.id, earlier));
    watched.report = [&report](MetricValues reported) {
      reported.erase("stopped");  // that attempt, not this one
      report(reported);
    };
    setting.watch.Watch(std::move(watched))->Finish();
  }
}

}  // namespace muster
