// muster whatif: what other rules would have done. Of a sweep a rule of early stopping, by the recorded reports; of a
// run or a trial rules of verdicts, by its recorded failures.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "cli/sweeps/sweep_options.h"
#include "metrics/metric_history.h"
#include "run/directory/run_metrics.h"
#include "run/journal/run_history.h"
#include "run/supervise/verdict.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/scheduler/host_pool.h"
#include "sweep/scheduler/trial_failures.h"
#include "sweep/scheduler/what_if.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

struct WhatIfOptions {
  std::string name;  // of a run or a sweep
  std::string rules;
  std::string asha;
  std::string hyperband;
  std::string median;
  std::optional<double> eta;
  std::optional<double> min;
  std::optional<double> max;
  bool json = false;
};

// What is printed as JSON, members in the order of their names.
struct PrintedWhatIfTrial {
  WhatIfTrial trial;
};
template <class V>
void Parts(V& v, const PrintedWhatIfTrial& printed) {
  const WhatIfTrial& trial = printed.trial;
  v("left_out", As<UnlessNone>(trial.left_out)), v("ms", trial.ms), v("resource", trial.resource),
      v("stopped", trial.stopped), v("trial", trial.trial);
  v("unknown_beyond", trial.unknown_beyond), v("why", As<NullIfNone>(trial.why));
}
struct PrintedSaving {
  double before = 0;
  double with_rule = 0;
};
template <class V>
void Parts(V& v, const PrintedSaving& saving) {
  v("before", saving.before), v("with_rule", saving.with_rule);
}
struct PrintedWhatIf {
  std::optional<std::uint64_t> best;
  std::optional<std::uint64_t> best_before;
  PrintedSaving device_ms;
  PrintedSaving ms;
  PrintedSaving resource;
  std::string resource_name;
  std::string rule;
  std::uint64_t slots = 0;
  std::uint64_t stopped = 0;
  std::string sweep;
  std::string sweep_dir;
  std::vector<PrintedWhatIfTrial> trials;
  std::uint64_t unknown = 0;
};
template <class V>
void Parts(V& v, const PrintedWhatIf& printed) {
  v("best", printed.best), v("best_before", printed.best_before), v("device_ms", printed.device_ms), v("format", 1);
  v("ms", printed.ms), v("resource", printed.resource), v("resource_name", printed.resource_name);
  v("rule", printed.rule), v("slots", printed.slots), v("stopped", printed.stopped), v("sweep", printed.sweep);
  v("sweep_dir", printed.sweep_dir), v("trials", printed.trials), v("unknown", printed.unknown);
}

// "asha, step 1 to 81, eta 3".
std::string RuleText(const EarlyStopChoice& rule) {
  const auto number = [](double each) { return ShownValue(Value(each)); };
  if (rule.kind == EarlyStopChoice::Kind::kMedian) {
    return fmt::format("median, {} from {} on", rule.resource, number(rule.warmup));
  }
  return fmt::format("{}, {} {} to {}, eta {}", rule.kind == EarlyStopChoice::Kind::kAsha ? "asha" : "hyperband",
                     rule.resource, number(rule.min), number(rule.max), number(rule.eta));
}

// The sweep with the rule that is asked about.
Result<SweepDescription> WithRule(const OpenedSweep& sweep, const WhatIfOptions& options) {
  auto description = ReadSweepDescription(sweep.dir);
  if (!description) return description;
  auto& rule = description->early_stop;
  if (!options.asha.empty() || !options.hyperband.empty() || !options.median.empty()) {
    auto given = EarlyStopOption(options.asha, options.hyperband, options.median);
    if (!given) return Fail(given.error());
    rule = *std::move(given);
  } else if (!options.eta && !options.min && !options.max) {
    return Fail(
        Error("usage", {}, "missing rule: what should be different?", "--eta 3, --asha step:1..81/3 or --median step"));
  } else if (!rule || !rule->has_rungs()) {
    return Fail(Error("usage", {}, "the sweep has no rungs that --eta, --min or --max could change",
                      "a whole rule: --asha step:1..81/3"));
  }
  if (options.eta) rule->eta = *options.eta;
  if (options.min) rule->min = *options.min;
  if (options.max) rule->max = *options.max;
  if (Diagnostics problems = CheckSweep(*description); !problems.empty()) return Fail(std::move(problems));
  return description;
}

// The reports of the process that the objective is read from. They have no times: they are spread evenly.
std::vector<RecordedTrial::Report> ReportsOf(const std::vector<ProcessHistory>& processes,
                                             const SweepDescription& sweep, double ms) {
  std::vector<RecordedTrial::Report> reports;
  for (const ProcessHistory& process : processes) {
    const auto column = process.history.columns.find(sweep.objective->metric);
    if (column == process.history.columns.end()) continue;
    HeldValue resource(process.history, sweep.early_stop->resource);
    for (std::size_t i = 0; i < column->second.reports.size(); ++i) {
      const std::uint32_t number = column->second.reports[i];
      const double at = resource.At(number);
      const double value = column->second.values[i];
      if (!std::isfinite(at) || !std::isfinite(value)) continue;
      const double share = (number + 1.0) / (process.history.reports + 1.0);
      reports.push_back({ms * share, at, ObjectiveValue(sweep.objective, value)});
    }
    break;
  }
  return reports;
}

std::uint32_t DevicesOfTrial(const std::string& run_dir) {
  const auto plan = PlanOfRun(run_dir);
  if (!plan) return 0;
  std::uint32_t devices = 0;
  for (const HostShare& share : NeedsOf(plan->plan)) devices += share.devices;
  return devices;
}

struct RecordedTrials {
  std::vector<RecordedTrial> trials;  // in the order in which they began
  std::size_t slots = 0;              // the most that ran at the same time
};

Result<RecordedTrials> ReadRecorded(const OpenedSweep& sweep, const SweepDescription& description) {
  struct Row {
    std::string began;
    std::string ended;
    RecordedTrial trial;
  };
  std::vector<Row> rows;
  const std::map<TrialNumber, std::uint64_t>& groups = sweep.view.progress().groups();
  auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
    if (row.ended.empty() || row.interrupted) return true;
    const std::vector<std::string> dirs = row.RunDirs(sweep.dir);
    const auto processes = ReadContinuedHistory(dirs, sweep.file.metrics, description.early_stop->resource, true);
    const double ms = static_cast<double>(row.ms);
    RecordedTrial trial{
        row.trial, ReportsOf(processes, description, ms), ms, DevicesOfTrial(dirs.back()), row.trial_class, row.loss,
        {}};
    if (const auto group = groups.find(row.trial); group != groups.end()) trial.group = group->second;
    rows.push_back({row.began, row.ended, std::move(trial)});
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& one, const Row& other) { return one.began < other.began; });
  RecordedTrials recorded;
  std::vector<std::pair<std::string, int>> changes;  // a trial that begins when another one ends takes its place
  for (Row& row : rows) {
    changes.emplace_back(row.began, 1);
    changes.emplace_back(row.ended, -1);
    recorded.trials.push_back(std::move(row.trial));
  }
  std::sort(changes.begin(), changes.end());
  int running = 0;
  for (const auto& [wall, change] : changes) {
    running += change;
    recorded.slots = std::max(recorded.slots, static_cast<std::size_t>(std::max(running, 0)));
  }
  return recorded;
}

std::string Saved(double before, double with_rule) {
  return before > 0 ? fmt::format("{:.0f} % less", 100 * (before - with_rule) / before) : std::string("none");
}

std::string WhatIfText(const PrintedWhatIf& printed, bool has_devices) {
  const auto number = [](double each) { return ShownValue(Value(each)); };
  std::string text = fmt::format("rule       {}\n", printed.rule);
  text += fmt::format("replayed   {}, {} at a time; reports are spread evenly over the time of their trial\n",
                      Counted(printed.trials.size(), "trial"), printed.slots);
  text += fmt::format("stopped    {} of {}\n", printed.stopped, printed.trials.size());
  text += fmt::format("{:<10} {} instead of {}, {}\n", printed.resource_name, number(printed.resource.with_rule),
                      number(printed.resource.before), Saved(printed.resource.before, printed.resource.with_rule));
  text += fmt::format("{} {} s instead of {} s, {}\n", has_devices ? "devices   " : "trial time",
                      number(printed.device_ms.with_rule / 1000), number(printed.device_ms.before / 1000),
                      Saved(printed.device_ms.before, printed.device_ms.with_rule));
  text += fmt::format("duration   {} s instead of {} s\n", number(printed.ms.with_rule / 1000),
                      number(printed.ms.before / 1000));
  if (printed.best_before) {
    text += fmt::format("best       trial {}", *printed.best_before);
    if (printed.best == printed.best_before) {
      text += " would have been found\n";
    } else if (printed.best) {
      text += fmt::format(" would have been stopped; the best would have been trial {}\n", *printed.best);
    } else {
      text += " would have been stopped, and no trial would have come to its end\n";
    }
  }
  if (printed.unknown > 0) {
    text += fmt::format(
        "unknown    {} ended early in reality, and the rule would have let them go on: nothing is known "
        "beyond their last report\n",
        Counted(printed.unknown, "trial"));
  }
  for (const PrintedWhatIfTrial& each : printed.trials) {
    const WhatIfTrial& trial = each.trial;
    if (trial.stopped) {
      text += fmt::format("  trial {} stopped at {} {}: {}\n", trial.trial, printed.resource_name,
                          number(trial.resource), trial.why);
    } else if (trial.left_out) {
      text += fmt::format("  trial {} left out: another repetition of its point was stopped\n", trial.trial);
    } else if (trial.unknown_beyond) {
      text +=
          fmt::format("  trial {} unknown beyond {} {}\n", trial.trial, printed.resource_name, number(trial.resource));
    }
  }
  return text;
}

int WhatIfOfSweep(const WhatIfOptions& options) {
  const auto sweep = OpenSweep(options.name);
  if (!sweep) return Refuse(sweep.error(), options.json);
  const auto description = WithRule(*sweep, options);
  if (!description) return Refuse(description.error(), options.json);
  const auto recorded = ReadRecorded(*sweep, *description);
  if (!recorded) return Refuse(recorded.error(), options.json);
  const auto reported = [](const RecordedTrial& trial) { return !trial.reports.empty(); };
  if (std::none_of(recorded->trials.begin(), recorded->trials.end(), reported)) {
    return Refuse({Error("sweep", {},
                         fmt::format("no trial has reported both {} and {}", description->objective->metric,
                                     description->early_stop->resource),
                         "the reports of a trial: muster export SWEEP --curves --csv")},
                  options.json);
  }
  const WhatIf made = ReplayWithRule(*description, recorded->trials, recorded->slots);
  PrintedWhatIf printed{made.best,
                        made.best_before,
                        {made.device_ms_before, made.device_ms},
                        {made.ms_before, made.ms},
                        {made.resource_before, made.resource},
                        description->early_stop->resource,
                        RuleText(*description->early_stop),
                        recorded->slots,
                        made.stopped,
                        sweep->file.sweep_id,
                        sweep->dir,
                        {},
                        made.unknown};
  for (const WhatIfTrial& trial : made.trials) printed.trials.push_back({trial});
  const bool has_devices = std::any_of(recorded->trials.begin(), recorded->trials.end(),
                                       [](const RecordedTrial& trial) { return trial.devices > 0; });
  const std::string text = options.json ? JsonOf<PartForms>(printed, 2) + "\n" : WhatIfText(printed, has_devices);
  std::fputs(PrintableLines(text).c_str(), stdout);
  return kExitOk;
}

// --- of a run, or of a trial ---

// What is printed as JSON, members in the order of their names.
struct PrintedVerdict {
  std::optional<std::uint64_t> attempt;  // of a trial, from 1
  std::string evidence;
  std::string host;
  std::string process;
  std::string rule;
  double seconds = 0;  // since the run began
  std::string verdict;
  std::string was;  // the recorded verdict, and its rule; empty: none was recorded
  std::string was_rule;
  std::string what;
};
template <class V>
void Parts(V& v, const PrintedVerdict& one) {
  v("attempt", OnlyIf(one.attempt.has_value(), one.attempt)), v("evidence", one.evidence), v("host", one.host);
  v("process", one.process), v("rule", one.rule), v("seconds", one.seconds), v("verdict", one.verdict);
  v("was", As<NullIfNone>(one.was)), v("was_rule", As<NullIfNone>(one.was_rule)), v("what", one.what);
}
struct PrintedVerdicts {
  std::uint64_t differ = 0;
  std::vector<PrintedVerdict> failures;
  std::uint64_t prevented = 0;  // failures after a stop
  std::string run_dir;          // of a trial that of its newest attempt
  std::string trial;            // "lr:12"; empty: a run
};
template <class V>
void Parts(V& v, const PrintedVerdicts& printed) {
  v("differ", printed.differ), v("failures", printed.failures), v("format", 1), v("prevented", printed.prevented);
  v("run_dir", printed.run_dir), v("trial", OnlyIf(!printed.trial.empty(), printed.trial));
}

std::string VerdictWords(const std::string& verdict, const std::string& host) {
  return verdict == RestartVerdictName(RestartVerdict::kExcludeHost) ? "exclude " + host : verdict;
}

// `stopped`: what would have ended at a stop, one sentence.
std::string VerdictsText(const PrintedVerdicts& printed, const std::string& stopped) {
  if (printed.failures.empty())
    return fmt::format("no failure of {} has a verdict\n", printed.trial.empty() ? printed.run_dir : printed.trial);
  std::string text;
  std::size_t recorded = 0;
  for (std::size_t i = 0; i < printed.failures.size(); ++i) {
    const PrintedVerdict& one = printed.failures[i];
    text += fmt::format("{:>3} {}after {}: {} on {}: {}: {}, {}", i + 1,
                        one.attempt ? fmt::format("attempt {}, ", *one.attempt) : "", DurationText(one.seconds),
                        one.process, one.host, one.what, VerdictWords(one.verdict, one.host), one.evidence);
    if (!one.was.empty()) ++recorded;
    if (!one.was.empty() && one.verdict != one.was)
      text += fmt::format(" (it was: {}, {})", VerdictWords(one.was, one.host), one.was_rule);
    text += "\n";
  }
  text += stopped;
  if (recorded == 0) return text + "no verdict on them is recorded\n";
  return text + (printed.differ == 0 ? "these rules give the same verdicts\n"
                                     : fmt::format("{} of {} verdicts differ\n", printed.differ, recorded));
}

Result<std::vector<VerdictRule>> RulesAskedFor(const WhatIfOptions& options) {
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  return ReadVerdictRules(site->facts, options.rules);
}

PrintedVerdict VerdictOn(const Recorded<FailureJudged>& failure, const GivenVerdict& given, const RecordedRun& run) {
  const Process& process = run.plan->processes[failure.process];
  return {{},
          given.evidence,
          failure.host_name,
          fmt::format("{}.{}", run.plan->roles[process.role].name, process.index),
          given.rule,
          static_cast<double>(failure.on_head - run.history.first.on_head) / 1e9,
          std::string(RestartVerdictName(given.verdict)),
          std::string(RestartVerdictName(failure.verdict)),
          failure.rule,
          failure.what};
}

void Print(const PrintedVerdicts& printed, const std::string& stopped, bool json) {
  const std::string text = json ? JsonOf<PartForms>(printed, 2) + "\n" : VerdictsText(printed, stopped);
  std::fputs(PrintableLines(text).c_str(), stdout);
}

// A verdict on a failure that these rules would have prevented is left out: after a stop nothing follows.
int WhatIfOfRun(const std::string& run_dir, const WhatIfOptions& options) {
  const auto rules = RulesAskedFor(options);
  if (!rules) return Refuse(rules.error(), options.json);
  const auto recorded = ReadRun(run_dir);
  if (!recorded) return Refuse(recorded.error(), options.json);
  const RunHistory& history = recorded->history;
  PrintedVerdicts printed;
  printed.run_dir = run_dir;
  std::vector<FailureJudged> failures;
  std::string stopped;
  for (const Recorded<FailureJudged>& one : history.judged) {
    failures.push_back(one);
    const GivenVerdict given = GiveVerdict(failures, *rules);
    if (given.verdict != one.verdict) ++printed.differ;
    printed.failures.push_back(VerdictOn(one, given, *recorded));
    if (given.verdict != RestartVerdict::kStop) continue;
    printed.prevented = history.judged.size() - printed.failures.size();
    stopped =
        fmt::format("    the job would have ended here: {} before the end of the run, without the {} that followed\n",
                    DurationText(static_cast<double>(history.last.on_head - one.on_head) / 1e9),
                    Counted(printed.prevented, "failure"));
    break;
  }
  Print(printed, stopped, options.json);
  return kExitOk;
}

// An attempt that failed, with the failure on which the verdict of its trial was given.
struct FailedAttempt {
  AttemptBegan began;
  AttemptEnded ended;
};

// Of a trial, in lists of those that were judged together: after a trial was reopened nothing of before counts.
struct FailedAttempts {
  std::vector<std::vector<FailedAttempt>> judged_together;
  bool several_hosts = false;  // the sweep has used more than one
};

FailedAttempts FailedAttemptsOf(const OpenedSweep& sweep, TrialNumber trial) {
  FailedAttempts found;
  found.judged_together.emplace_back();
  std::set<std::string> hosts;
  RetriedAttempts attempts;
  std::string stopped;
  const UniqueFd folder(::open(sweep.dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ReadSweepJournal(
      folder.get(), {},
      [&](const SweepRecord& record) {
        if (const auto* const began = std::get_if<AttemptBegan>(&record.entry); began && began->job.empty())
          hosts.insert(began->hosts.begin(), began->hosts.end());
        const AttemptBegan* const began = attempts.Take(record.entry);
        if (began == nullptr || began->trial != trial) return;
        const auto& ended = std::get<AttemptEnded>(record.entry);
        if (IsFailure(ended.trial_class)) found.judged_together.back().push_back({*began, ended});
        if (!ended.again) found.judged_together.emplace_back();
      },
      stopped);
  found.several_hosts = hosts.size() > 1;
  return found;
}

// As the sweep judges: by the last failure of each attempt.
int WhatIfOfTrial(const OpenedSweep& sweep, TrialNumber trial, const std::string& newest,
                  const WhatIfOptions& options) {
  const auto rules = RulesAskedFor(options);
  if (!rules) return Refuse(rules.error(), options.json);
  PrintedVerdicts printed;
  printed.run_dir = newest;
  printed.trial = fmt::format("{}:{}", sweep.file.name, trial);
  std::uint64_t together = 0;  // failures
  const FailedAttempts failed = FailedAttemptsOf(sweep, trial);
  for (const std::vector<FailedAttempt>& attempts : failed.judged_together) {
    std::vector<FailureJudged> failures;
    bool stops = false;
    for (const FailedAttempt& attempt : attempts) {
      const auto run = ReadRun(sweep.dir + "/" + TrialFolder(attempt.began.id, attempt.began.attempt));
      if (!run || run->history.judged.empty()) continue;  // deleted, or it has failed before its processes worked
      ++together;
      if (stops) continue;
      const Recorded<FailureJudged>& last = run->history.judged.back();
      failures.push_back(AsFailureOfTrial(last, HostOfAttempt(attempt.began, last), failed.several_hosts));
      const GivenVerdict given = GiveVerdict(failures, *rules);
      PrintedVerdict& one = printed.failures.emplace_back(VerdictOn(last, given, *run));
      one.attempt = std::uint64_t{attempt.began.attempt} + 1;
      one.was = attempt.ended.verdict;
      one.was_rule = attempt.ended.rule;
      if (!one.was.empty() && one.was != one.verdict) ++printed.differ;
      stops = given.verdict == RestartVerdict::kStop;
    }
  }
  printed.prevented = together - printed.failures.size();
  Print(printed,
        printed.prevented == 0
            ? std::string()
            : fmt::format("    the trial would not have been retried: without the {} that followed\n",
                          Counted(printed.prevented, "failed attempt")),
        options.json);
  return kExitOk;
}

int RunWhatIf(const WhatIfOptions& options) {
  const auto found = FindRunOrSweep(options.name, DirectoryUse::kRead, Prefer::kNewest);
  if (!found) return Refuse(found.error(), options.json);
  const bool asks_sweep = !options.asha.empty() || !options.hyperband.empty() || !options.median.empty() ||
                          options.eta || options.min || options.max;
  if (found->is_sweep && !options.rules.empty()) {
    return Refuse({Error("usage", {},
                         fmt::format("--rules: {} is a sweep, and verdicts are given on the failures of a run",
                                     Quoted(found->folder)),
                         "muster whatif SWEEP:12 --rules FILE is about the attempts of a trial")},
                  options.json);
  }
  if (!found->is_sweep && asks_sweep) {
    return Refuse(
        {Error("usage", {},
               fmt::format("{} is a run, and early stopping is about the trials of a sweep", Quoted(found->folder)),
               "of a run: --rules FILE")},
        options.json);
  }
  if (found->is_sweep) return WhatIfOfSweep(options);
  const auto words = SweepAndTrial(options.name);
  if (!words || !FindTrialOfRun(found->folder)) return WhatIfOfRun(found->folder, options);
  const auto sweep = OpenSweep(words->first);
  if (!sweep) return Refuse(sweep.error(), options.json);
  const auto chosen = ChooseTrial(sweep->view, words->second);
  if (!chosen) return Refuse(chosen.error(), options.json);
  return chosen->attempt ? WhatIfOfRun(found->folder, options)
                         : WhatIfOfTrial(*sweep, chosen->trial, found->folder, options);
}

}  // namespace

std::string WhatIfSchema() { return SchemaOf<PartForms>(PrintedWhatIf()); }
std::string WhatIfOfRunSchema() { return SchemaOf<PartForms>(PrintedVerdicts()); }

std::function<int()> SetupWhatIf(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<WhatIfOptions>();
  AddRunOrSweepArgument(app, options->name);
  app.add_option("--rules", options->rules, "of a run or trial: rules of verdicts, instead of those of the site")
      ->type_name("FILE");
  auto* asha = app.add_option("--asha", options->asha, "of a sweep: this ASHA rule instead of its own rule");
  asha->type_name("METRIC:MIN..MAX/ETA");
  auto* hyperband = app.add_option("--hyperband", options->hyperband, "these brackets instead");
  hyperband->type_name("METRIC:MIN..MAX/ETA")->excludes(asha);
  app.add_option("--median", options->median, "this median rule instead")
      ->type_name("METRIC[:WARMUP]")
      ->excludes(asha)
      ->excludes(hyperband);
  app.add_option("--eta", options->eta, "the sweep's own rungs with another eta")->type_name("N");
  app.add_option("--min", options->min, "… with another first rung")->type_name("N");
  app.add_option("--max", options->max, "… with another end")->type_name("N");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunWhatIf(*options); };
}

}  // namespace muster
