// muster show: how a sweep stands, or how one of its trials went.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/shell_quote.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/list_choice.h"
#include "cli/print_diagnostics.h"
#include "cli/run_argument.h"
#include "cli/run_list.h"
#include "cli/trial_facts.h"
#include "run/journal_line.h"
#include "settings/value_json.h"
#include "sweep/trial_choice.h"

namespace muster {
namespace {

constexpr std::size_t kMostReasons = 20;  // on a terminal
constexpr std::size_t kMostValues = 12;   // of a name, for its failures to be told by it
constexpr auto kReplace = nlohmann::json::error_handler_t::replace;

struct Options {
  std::string word;
  bool json = false;
};

int Refuse(const Options& options, const Diagnostics& problems) {
  if (options.json) std::fputs(DiagnosticsJson(problems).c_str(), stdout);
  PrintDiagnostics(problems);
  return ExitCodeFor(problems);
}

// Trials that are over by host and by swept value: how many there were, and how many of them failed.
struct Failures {
  struct Count {
    std::uint64_t over = 0;
    std::uint64_t failed = 0;
  };
  using ByValue = std::map<std::string, Count>;
  std::map<std::string, ByValue> by;  // "host", a swept name

  void Add(const std::string& name, const std::string& value, bool failed) {
    ByValue& values = by[name];
    if (values.size() > kMostValues && !values.contains(value)) return;
    Count& count = values[value];
    ++count.over;
    count.failed += failed ? 1 : 0;
  }
};

Result<Failures> FailuresOf(const OpenedSweep& sweep) {
  Failures failures;
  auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
    if (!row.over) return true;
    const bool failed = IsFailure(row.trial_class);
    for (const std::string& host : row.hosts) failures.Add("host", host, failed);
    for (const auto& [name, value] : row.point) {
      failures.Add(name, value.AsString() != nullptr ? *value.AsString() : ToText(value), failed);
    }
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  // What has one value for each few trials tells nothing, and so does what has only one.
  std::erase_if(failures.by, [](const auto& one) { return one.second.size() > kMostValues || one.second.size() < 2; });
  return failures;
}

// What the rows of a sweep come to.
struct Told {
  std::string began, last;
  std::vector<SweepView::Reason> reasons;
  std::vector<SweepView::Rung> rungs;
  std::vector<SweepView::Quarantine> quarantined;
  Failures failures;  // if there were any
};

Result<Told> Tell(const OpenedSweep& sweep) {
  Told told;
  Diagnostics problems;
  const auto take = [&](auto& into, auto from) {
    if (from) {
      into = *std::move(from);
    } else {
      problems = std::move(from.error());
    }
  };
  take(told.began, sweep.view.Began());
  take(told.last, sweep.view.Last());
  take(told.reasons, sweep.view.Reasons());
  take(told.rungs, sweep.view.Rungs());
  take(told.quarantined, sweep.view.Quarantined());
  if (sweep.view.account().failed() > 0) take(told.failures, FailuresOf(sweep));
  if (!problems.empty()) return Fail(std::move(problems));
  return told;
}

std::uint64_t RunningOf(const SweepAccount& account) {
  return static_cast<std::uint64_t>(
      std::count_if(account.open().begin(), account.open().end(), [](const auto& one) { return one.second.running; }));
}

void Say(const std::string& what, const std::string& text) { std::printf("%-12s %s\n", what.c_str(), text.c_str()); }

void PrintFailures(const Failures& failures) {
  if (failures.by.empty()) return;
  std::puts("\nfailures by");
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, values] : failures.by) {
    std::string text;
    for (const auto& [value, count] : values) {
      text += fmt::format("{}{} {}/{}", text.empty() ? "" : "  ", Printable(value), count.failed, count.over);
    }
    rows.push_back({"  " + Printable(name), text});
  }
  PrintTable(rows);
}

void PrintSweep(const OpenedSweep& sweep, const Told& told) {
  const SweepAccount& account = sweep.view.account();
  Say("sweep", fmt::format("{}  {}", Printable(account.name()), Printable(account.sweep_id())));
  if (!sweep.file.doc.empty()) Say("", Printable(sweep.file.doc));
  Say("directory", Printable(sweep.dir));
  std::string state = sweep.State();
  if (state == "left") state += ": " + Printable(account.ended()->why);
  if (state == "lost") state += ": its muster ended without a word";
  if (state == "running") state += ": " + HolderOf(sweep.dir);
  Say("state", state);
  Say("started", TimeText(told.began) + (sweep.live ? "" : ", last heard of " + TimeText(told.last)));
  if (!sweep.view.stopped().empty()) Say("journal", "its end is broken: " + sweep.view.stopped());
  Say("trials",
      fmt::format("{}: {} over, {} impossible, {} running, {} to come", account.trials(), account.over().size(),
                  account.impossible().size(), sweep.live ? RunningOf(account) : 0,
                  account.trials() -
                      std::min<std::uint64_t>(account.trials(), account.over().size() + account.impossible().size() +
                                                                    (sweep.live ? RunningOf(account) : 0))));
  std::string ends;
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    const std::uint64_t count = account.count(static_cast<TrialClass>(i));
    if (count > 0) ends += fmt::format("{}{} {}", ends.empty() ? "" : ", ", count, kTrialClassNames[i]);
  }
  if (!ends.empty()) Say("ended", ends);
  Say("attempts",
      fmt::format("{}, {} in all", account.attempts(), DurationText(static_cast<double>(account.trial_ms()) / 1000)));
  if (const auto& best = account.best()) {
    Say("best", fmt::format("{} {}  trial {}  {}", Printable(sweep.ValueName()),
                            NumberText(ObjectiveValue(sweep.file.objective, best->loss)), best->trial,
                            Printable(PointText(best->point))));
  }
  if (const auto& reasons = told.reasons; !reasons.empty()) {
    std::puts("\nimpossible");
    for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
      std::printf("  %8llu  %s%s\n", static_cast<unsigned long long>(reasons[i].count),
                  reasons[i].place.empty() ? "" : (Printable(reasons[i].place) + ": ").c_str(),
                  Printable(reasons[i].text).c_str());
    }
    if (reasons.size() > kMostReasons) std::printf("  and %zu more reasons\n", reasons.size() - kMostReasons);
  }
  if (!told.rungs.empty()) {
    std::puts("\nrungs");
    std::vector<std::vector<std::string>> rows = {{"  RUNG", "AT", "REPORTS", "STOPPED", "BEST"}};
    for (const SweepView::Rung& rung : told.rungs) {
      rows.push_back({fmt::format("  {}", rung.rung + 1), NumberText(rung.resource), std::to_string(rung.reports),
                      std::to_string(rung.stopped),
                      rung.best ? NumberText(ObjectiveValue(sweep.file.objective, *rung.best)) : ""});
    }
    PrintTable(rows);
  }
  if (!told.quarantined.empty()) {
    std::puts("\nquarantined");
    for (const SweepView::Quarantine& host : told.quarantined) {
      std::printf("  %s  %s: %s\n", TimeText(host.wall).c_str(), Printable(host.host).c_str(),
                  Printable(host.why).c_str());
    }
  }
  PrintFailures(told.failures);
}

nlohmann::json SweepJson(const OpenedSweep& sweep, const Told& told) {
  const SweepAccount& account = sweep.view.account();
  nlohmann::json json = {{"format", 1},
                         {"sweep", account.sweep_id()},
                         {"name", Readable(account.name())},
                         {"sweep_dir", Readable(sweep.dir)},
                         {"state", sweep.State()},
                         {"why", account.ended() ? Readable(account.ended()->why) : ""},
                         {"started_at", told.began},
                         {"trials", account.trials()},
                         {"over", account.over().size()},
                         {"impossible", account.impossible().size()},
                         {"running", sweep.live ? RunningOf(account) : 0},
                         {"attempts", account.attempts()},
                         {"seconds", static_cast<double>(account.trial_ms()) / 1000},
                         {"best", BestJson(sweep)},
                         {"classes", ClassesJson(account)},
                         {"reasons", nlohmann::json::array()},
                         {"rungs", nlohmann::json::array()},
                         {"quarantined", nlohmann::json::array()},
                         {"failures", nlohmann::json::object()}};
  for (const auto& reason : told.reasons) {
    json["reasons"].push_back({{"text", reason.text}, {"place", reason.place}, {"trials", reason.count}});
  }
  for (const auto& rung : told.rungs) {
    json["rungs"].push_back(
        {{"rung", rung.rung + 1},
         {"resource", rung.resource},
         {"reports", rung.reports},
         {"stopped", rung.stopped},
         {"best", ToJson(rung.best ? Value(ObjectiveValue(sweep.file.objective, *rung.best)) : Value())}});
  }
  for (const auto& host : told.quarantined) {
    json["quarantined"].push_back({{"host", host.host}, {"why", host.why}, {"at", host.wall}});
  }
  for (const auto& [name, values] : told.failures.by) {
    for (const auto& [value, count] : values) {
      json["failures"][Readable(name)][Readable(value)] = {{"over", count.over}, {"failed", count.failed}};
    }
  }
  return json;
}

void PrintTrial(const OpenedSweep& sweep, const std::vector<AttemptRow>& attempts,
                const std::vector<std::string>& decisions, TrialNumber trial) {
  const TrialFacts last(sweep, attempts.back());
  Say("trial", fmt::format("{} of {}  {}", trial, Printable(sweep.file.name), last.row().id));
  Say("state", last.State());
  for (const auto& [name, value] : last.row().point) {
    Say("  " + Printable(name), Printable(value.AsString() != nullptr ? *value.AsString() : ToText(value)));
  }
  for (const AttemptRow& row : attempts) {
    const TrialFacts attempt(sweep, row);
    std::printf("\nattempt %u: %s\n", row.attempt + 1, attempt.AttemptState().c_str());
    if (const std::string from = attempt.FromText(); !from.empty()) Say("  from", Printable(from));
    Say("  started",
        TimeText(row.began) + (row.ended.empty() ? "" : ", took " + DurationText(static_cast<double>(row.ms) / 1000)));
    if (!row.hosts.empty()) Say("  hosts", Printable(*attempt.Of("hosts").AsString()));
    if (row.loss) {
      Say("  " + Printable(sweep.ValueName()), NumberText(ObjectiveValue(sweep.file.objective, *row.loss)));
    }
    for (const auto& [name, value] : row.metrics) {
      if (!sweep.file.objective || name != sweep.file.objective->metric) {
        Say("  " + Printable(name), Printable(value.AsString() != nullptr ? *value.AsString() : ToText(value)));
      }
    }
    if (!row.why.empty()) Say("  why", Printable(row.why));
    if (!row.blamed.empty()) Say("  blamed", Printable(row.blamed));
    if (const Value tags = attempt.Of("tags"); tags.AsString() != nullptr) Say("  tags", Printable(*tags.AsString()));
    Say("  directory", Printable(attempt.RunDir()));
  }
  if (!decisions.empty()) std::puts("\nearly stopping");
  for (const std::string& decision : decisions) std::printf("  %s\n", decision.c_str());
}

Result<void> ShowTrial(const OpenedSweep& sweep, const std::string& word, bool json) {
  const auto chosen = ChooseTrial(sweep.view, word);
  if (!chosen) return Fail(chosen.error());
  auto of_trial = sweep.view.AttemptsOf(chosen->trial);
  const auto decisions = sweep.view.DecisionsOn(chosen->trial);
  if (!of_trial || !decisions) return Fail(of_trial ? decisions.error() : of_trial.error());
  std::vector<AttemptRow>& attempts = *of_trial;
  if (attempts.empty()) {  // why, as for a run of it
    return Fail(RunDirectoryOf(sweep.view, sweep.dir, *chosen).error());
  }
  if (chosen->attempt && word.find('.') != std::string::npos) {
    std::erase_if(attempts, [&](const AttemptRow& row) { return row.attempt != *chosen->attempt; });
    if (attempts.empty()) return Fail(RunDirectoryOf(sweep.view, sweep.dir, *chosen).error());
  }
  if (!json) {
    PrintTrial(sweep, attempts, *decisions, chosen->trial);
    return {};
  }
  nlohmann::json object = {{"format", 1},
                           {"sweep", sweep.file.sweep_id},
                           {"trial", chosen->trial},
                           {"attempts", nlohmann::json::array()},
                           {"decisions", *decisions}};
  for (const AttemptRow& row : attempts) {
    const TrialFacts attempt(sweep, row);
    object["attempts"].push_back(attempt.Json(attempt.AttemptState()));
  }
  std::printf("%s\n", object.dump(2, ' ', false, kReplace).c_str());
  return {};
}

int Run(const Options& options) {
  const auto trial = SweepAndTrial(options.word);
  const auto sweep = OpenSweep(trial ? trial->first : options.word);
  if (!sweep) return Refuse(options, sweep.error());
  if (trial) {
    const auto shown = ShowTrial(*sweep, trial->second, options.json);
    return shown ? kExitOk : Refuse(options, shown.error());
  }
  const auto told = Tell(*sweep);
  if (!told) return Refuse(options, told.error());
  if (options.json) {
    std::printf("%s\n", SweepJson(*sweep, *told).dump(2, ' ', false, kReplace).c_str());
  } else {
    PrintSweep(*sweep, *told);
  }
  return kExitOk;
}

}  // namespace

std::function<int()> SetupShow(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<Options>();
  AddSweepArgument(app, options->word);
  app.get_option("SWEEP")->description(
      "a path, a name, name~1, a prefix of an id; left out: the newest. SWEEP:12, SWEEP:3f9a or SWEEP:best: that "
      "trial");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return Run(*options); };
}

}  // namespace muster
