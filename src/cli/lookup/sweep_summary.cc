#include "cli/lookup/sweep_summary.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/columns.h"
#include "base/values/json_text.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "base/values/shown_number.h"
#include "base/values/units.h"
#include "cli/command/output_terminal.h"
#include "cli/lookup/list_choice.h"
#include "cli/lookup/run_list.h"
#include "cli/lookup/trial_facts.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_note.h"
#include "run/directory/run_tags.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

constexpr std::size_t kMostReasons = 20;  // on a terminal
constexpr std::size_t kMostValues = 12;   // of a name, to be used for grouping failures

// Finished trials by host and by swept value: their number, and how many failed.
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
    if (!row.trial_standing.over) return true;
    const bool failed = IsFailure(row.trial_class);
    for (const std::string& host : row.hosts) failures.Add("host", host, failed);
    for (const auto& [name, value] : row.point) {
      failures.Add(name, value.AsString() != nullptr ? *value.AsString() : ToText(value), failed);
    }
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  // A name with about one value per trial is useless for grouping, and so is one with a single value.
  std::erase_if(failures.by, [](const auto& one) { return one.second.size() > kMostValues || one.second.size() < 2; });
  return failures;
}

// Failures with the same class, and the same text except for numbers.
struct FailureCause {
  TrialClass trial_class = TrialClass::kCrash;
  std::string why;  // of the first one
  std::uint64_t trials = 0;
  TrialNumber first = 0;
};

// The most frequent first.
Result<std::vector<FailureCause>> CausesOf(const OpenedSweep& sweep) {
  std::vector<FailureCause> causes;
  std::map<std::pair<TrialClass, std::string>, std::size_t> places;
  auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
    if (!row.trial_standing.over || !IsFailure(row.trial_class)) return true;
    std::string key = row.why;
    std::erase_if(key, [](unsigned char c) { return std::isdigit(c) != 0; });
    const auto [place, is_new] = places.try_emplace({row.trial_class, std::move(key)}, causes.size());
    if (is_new) causes.push_back({row.trial_class, row.why, 0, row.trial});
    ++causes[place->second].trials;
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.trials > b.trials; });
  return causes;
}

// The totals over the rows of a sweep.
struct SweepTotals {
  std::string began, last;
  std::vector<SweepView::Reason> reasons;
  std::vector<SweepView::Rung> rungs;
  std::vector<SweepView::Quarantine> quarantined;
  std::vector<FailureCause> causes;  // these two are shown if there were any
  Failures failures;
};

Result<SweepTotals> TotalsOf(const OpenedSweep& sweep) {
  SweepTotals totals;
  Diagnostics problems;
  const auto take = [&](auto& into, auto from) {
    if (from) {
      into = *std::move(from);
    } else {
      problems = std::move(from.error());
    }
  };
  take(totals.began, sweep.view.Began());
  take(totals.last, sweep.view.Last());
  take(totals.reasons, sweep.view.Reasons());
  take(totals.rungs, sweep.view.Rungs());
  take(totals.quarantined, sweep.view.Quarantined());
  if (sweep.view.account().failed() > 0) {
    take(totals.causes, CausesOf(sweep));
    take(totals.failures, FailuresOf(sweep));
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return totals;
}

void PrintFitted(const std::string& lines) {
  std::fputs(FittedLines(PrintableLines(lines), OutputColumns(0)).c_str(), stdout);
}

void PrintField(const std::string& what, const std::string& text) {
  PrintFitted(fmt::format("{:<12} {}\n", what, text));
}

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

void PrintCauses(const std::vector<FailureCause>& causes) {
  if (causes.empty()) return;
  std::puts("\nfailed");
  for (std::size_t i = 0; i < std::min(causes.size(), kMostReasons); ++i) {
    const FailureCause& cause = causes[i];
    PrintFitted(fmt::format("  {:>8}  {}: {} (trial {}{})\n", cause.trials, TrialClassName(cause.trial_class),
                            Printable(cause.why), cause.first, cause.trials > 1 ? " and others" : ""));
  }
  if (causes.size() > kMostReasons) std::printf("  and %zu more causes\n", causes.size() - kMostReasons);
}

void PrintSweep(const OpenedSweep& sweep, const SweepTotals& totals) {
  const SweepProgress& account = sweep.view.account();
  PrintField("sweep", fmt::format("{}  {}", Printable(account.name()), Printable(account.sweep_id())));
  if (!sweep.file.doc.empty()) PrintField("", Printable(sweep.file.doc));
  if (const std::string tags = TagsText(TagValues(TagsOfRun(sweep.dir))); !tags.empty()) {
    PrintField("tags", Printable(tags));
  }
  if (const std::string note = NoteOfRun(sweep.dir); !note.empty()) PrintField("note", NoteText(note, 13));
  PrintField("directory", Printable(sweep.dir));
  std::string state = sweep.State();
  if (state == "stopped") state += ": " + Printable(account.ended()->why);
  if (state == "lost") state += ": its head exited without a record";
  if (state == "running") state += ": " + HolderOf(sweep.dir);
  PrintField("state", state);
  PrintField("started", TimeText(totals.began) + (sweep.live ? "" : ", last record " + TimeText(totals.last)));
  if (!sweep.view.stopped().empty()) PrintField("journal", "its end is broken: " + sweep.view.stopped());
  const TrialCounts counts = CountsOf(account, sweep.live);
  PrintField("trials", fmt::format("{}: {} over, {} impossible, {} running, {} to come", account.trials(), counts.over,
                                   counts.impossible, counts.running, counts.waiting));
  std::string ends;
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    const std::uint64_t count = account.count(static_cast<TrialClass>(i));
    if (count > 0) ends += fmt::format("{}{} {}", ends.empty() ? "" : ", ", count, kTrialClassNames[i]);
  }
  if (!ends.empty()) PrintField("ended", ends);
  PrintField("attempts", fmt::format("{}, {} in all", account.attempts(),
                                     DurationText(static_cast<double>(account.trial_ms()) / 1000)));
  if (const auto& best = account.best()) {
    PrintField("best", fmt::format("{} {}  trial {}  {}", Printable(sweep.ValueName()),
                                   ShownNumber(ObjectiveValue(sweep.file.objective, best->loss)), best->trial,
                                   Printable(PointText(best->point))));
  }
  if (const auto& reasons = totals.reasons; !reasons.empty()) {
    std::puts("\nimpossible");
    for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
      PrintFitted(fmt::format("  {:>8}  {}{}\n", reasons[i].count,
                              reasons[i].place.empty() ? "" : Printable(reasons[i].place) + ": ",
                              Printable(reasons[i].text)));
    }
    if (reasons.size() > kMostReasons) std::printf("  and %zu more reasons\n", reasons.size() - kMostReasons);
  }
  if (!totals.rungs.empty()) {
    std::puts("\nrungs");
    std::vector<std::vector<std::string>> rows = {{"  RUNG", "AT", "TRIALS", "STOPPED", "BEST"}};
    for (const SweepView::Rung& rung : totals.rungs) {
      rows.push_back({fmt::format("  {}", rung.rung + 1), ShownNumber(rung.resource), std::to_string(rung.trials),
                      std::to_string(rung.stopped),
                      rung.best ? ShownNumber(ObjectiveValue(sweep.file.objective, *rung.best)) : ""});
    }
    PrintTable(rows);
  }
  if (!totals.quarantined.empty()) {
    std::puts("\nquarantined");
    for (const SweepView::Quarantine& host : totals.quarantined) {
      std::printf("  %s  %s: %s\n", TimeText(host.wall).c_str(), Printable(host.host).c_str(),
                  Printable(host.why).c_str());
    }
  }
  PrintCauses(totals.causes);
  PrintFailures(totals.failures);
}

nlohmann::json SweepJson(const OpenedSweep& sweep, const SweepTotals& totals) {
  const SweepProgress& account = sweep.view.account();
  nlohmann::json json = {{"format", 1},
                         {"sweep", account.sweep_id()},
                         {"name", Readable(account.name())},
                         {"sweep_dir", Readable(sweep.dir)},
                         {"state", sweep.State()},
                         {"why", account.ended() ? Readable(account.ended()->why) : ""},
                         {"tags", TagsOfRun(sweep.dir)},
                         {"note", nullptr},
                         {"started_at", totals.began},
                         {"trials", account.trials()},
                         {"over", account.over().size()},
                         {"impossible", account.impossible().size()},
                         {"running", CountsOf(account, sweep.live).running},
                         {"attempts", account.attempts()},
                         {"seconds", static_cast<double>(account.trial_ms()) / 1000},
                         {"best", BestJson(sweep)},
                         {"classes", ClassesJson(account)},
                         {"reasons", nlohmann::json::array()},
                         {"rungs", nlohmann::json::array()},
                         {"quarantined", nlohmann::json::array()},
                         {"causes", nlohmann::json::array()},
                         {"failures", nlohmann::json::object()}};
  if (const std::string note = NoteOfRun(sweep.dir); !note.empty()) json["note"] = note;
  for (const auto& reason : totals.reasons) {
    json["reasons"].push_back({{"text", reason.text}, {"place", reason.place}, {"trials", reason.count}});
  }
  for (const auto& rung : totals.rungs) {
    json["rungs"].push_back(
        {{"rung", rung.rung + 1},
         {"resource", rung.resource},
         {"trials", rung.trials},
         {"stopped", rung.stopped},
         {"best", ToJson(rung.best ? Value(ObjectiveValue(sweep.file.objective, *rung.best)) : Value())}});
  }
  for (const auto& host : totals.quarantined) {
    json["quarantined"].push_back({{"host", host.host}, {"why", host.why}, {"at", host.wall}});
  }
  for (const FailureCause& cause : totals.causes) {
    json["causes"].push_back({{"class", TrialClassName(cause.trial_class)},
                              {"why", Readable(cause.why)},
                              {"trials", cause.trials},
                              {"first", cause.first}});
  }
  for (const auto& [name, values] : totals.failures.by) {
    for (const auto& [value, count] : values) {
      json["failures"][Readable(name)][Readable(value)] = {{"over", count.over}, {"failed", count.failed}};
    }
  }
  return json;
}

}  // namespace

Result<void> ShowSweep(const OpenedSweep& sweep, bool json) {
  const auto totals = TotalsOf(sweep);
  if (!totals) return Fail(totals.error());
  if (json) {
    std::printf("%s\n", SerializedJson(SweepJson(sweep, *totals), 2).c_str());
  } else {
    PrintSweep(sweep, *totals);
  }
  return {};
}

}  // namespace muster
