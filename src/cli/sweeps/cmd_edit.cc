// muster edit: gives a sweep another space, condition or sampler; its trials keep their results.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/private_files.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/sweeps/run_sweep.h"
#include "cli/sweeps/sweep_options.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_files.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

constexpr std::size_t kMaxPointsShown = 5;

struct EditOptions {
  std::string sweep;
  SweepOptions described;
  std::vector<std::string> words;  // of muster sweep
  bool yes = false;
  bool json = false;
};

// What is printed as JSON, members in the order of their names.
struct PrintedPoints {
  std::uint64_t count = 0;
  std::vector<Point> first;  // some of them
};
template <class V>
void Parts(V& v, const PrintedPoints& points) {
  v("count", points.count), v("first", points.first);
}
struct PrintedEdit {
  bool edited = false;
  PrintedPoints fresh;
  PrintedPoints kept;
  PrintedPoints kept_outside;
  std::string sweep;
  std::string sweep_dir;
  PrintedPoints vanished;
};
template <class V>
void Parts(V& v, const PrintedEdit& edit) {
  v("edited", edit.edited), v("format", 1), v("kept", edit.kept), v("kept_outside", edit.kept_outside);
  v("new", edit.fresh), v("sweep", edit.sweep), v("sweep_dir", edit.sweep_dir), v("vanished", edit.vanished);
}

void Add(PrintedPoints& points, const Point& point) {
  ++points.count;
  if (points.first.size() < kMaxPointsShown) points.first.push_back(point);
}

// The trials of a sweep until now.
struct TrialsSoFar {
  TrialNumber judged_to = 0;
  std::map<TrialNumber, Point> begun;
  std::set<TrialNumber> chosen;       // by users
  std::vector<TrialNumber> given_up;  // judged and not begun
};

Result<TrialsSoFar> ReadTrials(const std::string& folder, const RunDirectory& directory, const SweepView& view) {
  TrialsSoFar trials;
  trials.judged_to = view.progress().judged_to();
  auto read = view.ForEachTrial(SweepView::Order::kNumber, [&](AttemptRow row) {
    trials.begun.emplace(row.trial, std::move(row.point));
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  std::string stopped;
  ReadSweepJournal(
      directory.folder(), {},
      [&](const SweepRecord& record) {
        const auto* judged = std::get_if<PointsJudged>(&record.entry);
        if (judged == nullptr || !judged->chosen) return;
        for (std::uint64_t i = 0; i < judged->count; ++i) trials.chosen.insert(judged->first + i);
      },
      stopped);
  if (!stopped.empty()) {
    return Fail(Error("sweep", {}, fmt::format("the journal of {} is damaged: {}", Quoted(folder), stopped),
                      "muster resume cuts its damaged end off"));
  }
  for (const auto& [trial, open] : view.progress().open()) {
    if (open.attempts == 0 && !trials.chosen.contains(trial)) trials.given_up.push_back(trial);
  }
  return trials;
}

// By number of the sampler's trials: a sequence does not count chosen ones.
std::vector<Point> KeptPoints(const TrialsSoFar& trials, bool sequence) {
  std::vector<Point> kept;
  for (TrialNumber trial = 0; trial < trials.judged_to; ++trial) {
    if (sequence && trials.chosen.contains(trial)) continue;
    const auto begun = trials.begun.find(trial);
    kept.push_back(begun == trials.begun.end() ? Point() : begun->second);
  }
  return kept;
}

struct Edit {
  PrintedEdit printed;
  std::uint64_t trials = 0;  // of the sampler, with those so far
};

// What becomes of which points. Sets `sweep.sampler.kept`.
Result<Edit> PlanEdit(const TrialsSoFar& trials, Sampler& before, SweepDescription& sweep) {
  const auto space = CompiledSpace::Of(sweep.space);
  if (!space) return Fail(space.error());
  const auto alone = Sampler::Of(*space, sweep.sampler);
  if (!alone) return Fail(alone.error());
  sweep.sampler.kept = KeptPoints(trials, (*alone)->is_sequence());
  const auto sampler = Sampler::Of(*space, sweep.sampler);
  if (!sampler) return Fail(sampler.error());
  Edit edit;
  edit.trials = (*sampler)->size();
  for (const auto& [trial, point] : trials.begun) {
    Add(space->Locate(point) ? edit.printed.kept : edit.printed.kept_outside, point);
  }
  const std::uint64_t first = sweep.sampler.kept.size();
  edit.printed.fresh.count = edit.trials - first;
  if ((*sampler)->is_sequence()) {
    for (std::uint64_t i = first; i < std::min<std::uint64_t>(edit.trials, first + kMaxPointsShown); ++i) {
      edit.printed.fresh.first.push_back((*sampler)->At(i));
    }
  }
  // Of a sequence the points that it would still have tried are known.
  if (before.is_sequence()) {
    std::set<std::string> still;
    constexpr std::uint64_t kMaxCompared = 100'000;
    if ((*sampler)->is_sequence() && edit.trials - first <= kMaxCompared) {
      for (std::uint64_t i = first; i < edit.trials; ++i) still.insert(PointText((*sampler)->At(i)));
    }
    std::set<std::string> begun;
    for (const auto& [trial, point] : trials.begun) begun.insert(PointText(point));
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(before.size(), kMaxCompared); ++i) {
      const Point point = before.At(i);
      if (point.empty()) continue;  // given up before
      const std::string text = PointText(point);
      if (!begun.contains(text) && !still.contains(text)) Add(edit.printed.vanished, point);
    }
  }
  return edit;
}

std::string PointsText(const char* name, const PrintedPoints& points, const std::string& what) {
  std::string text = fmt::format("{:<10} {} {}\n", name, points.count, what);
  for (const Point& point : points.first) text += "  " + PointText(point) + "\n";
  if (!points.first.empty() && points.first.size() < points.count) text += "  …\n";
  return text;
}

std::string EditText(const PrintedEdit& edit) {
  std::string text = PointsText("kept", edit.kept, "tried points of the space, with their results");
  if (edit.kept_outside.count > 0) {
    text += PointsText("", edit.kept_outside, "tried points that the space has no more, with their results");
  }
  text += PointsText("vanished", edit.vanished, "points that will not be tried any more");
  text += PointsText("new", edit.fresh, "trials to come");
  return text;
}

Result<void> CheckSameRules(const SweepDescription& before, const SweepDescription& now) {
  const bool same = before.objective.has_value() == now.objective.has_value() &&
                    (!now.objective || (before.objective->metric == now.objective->metric &&
                                        before.objective->maximize == now.objective->maximize));
  if (!same) {
    return Fail(Error("rules_changed", {}, "the edited sweep has another objective",
                      "its results are compared by it: start another sweep with muster sweep"));
  }
  const Value then = SweepDescriptionValue(before);
  const Value said = SweepDescriptionValue(now);
  const Value* const rule = FieldOf(then, "early_stop");
  const Value* const other = FieldOf(said, "early_stop");
  if ((rule == nullptr ? Value() : *rule) == (other == nullptr ? Value() : *other)) return {};
  return Fail(Error("rules_changed", {}, "the edited sweep has another rule of early stopping",
                    "its trials were compared by it; muster whatif replays them with another rule"));
}

// Records the edit as a head that does nothing else.
Result<void> RecordEdit(const RunDirectory& directory, const SweepFile& file, const TrialsSoFar& trials,
                        const SweepProgress& progress, std::uint64_t all) {
  const LoadedSweep loaded = LoadSweepProgress(directory.path());
  auto journal = SweepJournalWriter::Continue(directory.folder(), loaded.position);
  if (!journal) return Fail(journal.error());
  auto hash = RecipeHashOf(directory.path());
  if (!hash) return Fail(hash.error());
  std::vector<SweepEntry> entries;
  SweepBegan began;
  began.sweep_id = file.sweep_id;
  began.name = file.name;
  began.trials = all;
  began.pid = ::getpid();
  began.muster = MUSTER_VERSION;
  began.recipe = *std::move(hash);
  began.accepted = true;
  entries.emplace_back(began);
  for (const TrialNumber trial : trials.given_up) {
    PointsJudged gone{trial, 1, {{"given up: the sweep was edited before it began", "", {{trial, trial}}}}};
    entries.emplace_back(std::move(gone));
  }
  if (progress.steered().trials) {
    SweepSteered steered;
    steered.trials = all;
    entries.emplace_back(std::move(steered));
  }
  entries.emplace_back(SweepEnded{false, "edited", 0});
  for (SweepEntry& entry : entries) {
    if (const int error = journal->Append(std::move(entry), WallNowNs()); error != 0) {
      return Fail(SystemError("sweep", "the journal of the sweep cannot be written", error));
    }
  }
  if (const int error = journal->Sync(); error != 0) {
    return Fail(SystemError("sweep", "the journal of the sweep cannot be synced to disk", error));
  }
  return {};
}

int RunEdit(EditOptions& options) {
  if (!options.described.from.empty() || !options.described.tries.empty()) {
    return Refuse({Error("usage", {}, "--from and --try are no part of an edit",
                         "chosen points: muster resume SWEEP --try lr=0.1; a sweep learns from another one from its "
                         "beginning only")},
                  options.json);
  }
  const auto found = FindSweep(options.sweep, DirectoryUse::kWrite);
  if (!found) return Refuse(found.error(), options.json);
  if (IsRunLive(*found)) {
    const std::string name = ShellQuoted(options.sweep.empty() ? *found : options.sweep);
    return Refuse({Error("sweep", {}, "the sweep is running",
                         fmt::format("muster stop {0} --wait, then muster edit, then muster resume {0} --detach: all "
                                     "results are kept, and trials that were interrupted are tried again",
                                     name))},
                  options.json);
  }
  auto directory = HoldSweepDirectory(*found);
  if (!directory) return Refuse(directory.error(), options.json);
  auto file = ReadSweepFile(*found);
  if (!file) return Refuse(file.error(), options.json);
  const auto before = ReadSweepDescription(*found);
  if (!before) return Refuse(before.error(), options.json);
  const auto view = SweepView::Open(*found);
  if (!view) return Refuse(view.error(), options.json);
  const auto trials = ReadTrials(*found, *directory, *view);
  if (!trials) return Refuse(trials.error(), options.json);

  Evaluator evaluator;
  options.described.given = before->sampler.given;
  auto described = DescribeSweep(options.described, evaluator);
  if (!described) return Refuse(described.error(), options.json);
  SweepDescription& sweep = described->sweep;
  if (auto same = CheckSameRules(*before, sweep); !same) return Refuse(same.error(), options.json);
  auto space_before = CompiledSpace::Of(before->space);
  if (!space_before) return Refuse(space_before.error(), options.json);
  const auto sampler_before = Sampler::Of(*space_before, before->sampler);
  if (!sampler_before) return Refuse(sampler_before.error(), options.json);
  auto edit = PlanEdit(*trials, **sampler_before, sweep);
  if (!edit) return Refuse(edit.error(), options.json);
  edit->printed.sweep = file->sweep_id;
  edit->printed.sweep_dir = *found;
  const auto print = [&] {
    const std::string text = options.json ? JsonOf<PartForms>(edit->printed, 2) + "\n" : EditText(edit->printed);
    std::fputs(PrintableLines(text).c_str(), stdout);
  };
  if (!options.yes) {
    print();
    if (!options.json) std::fputs("nothing was changed: add --yes to edit the sweep\n", stdout);
    return kExitOk;
  }
  const auto first = FirstEvaluation(*described, evaluator);
  if (!first) return Refuse(first.error(), options.json);
  // sweep.json is last: an edit that was cut off is repeated, and until then the sweep does not continue.
  auto replaced = ReplaceRecipe(directory->folder(), InputsValue(first->inputs),
                                EvaluationRecord(described->evaluation), first->sources);
  const std::uint64_t all =
      edit->trials +
      (sweep.sampler.kept.size() < trials->judged_to ? trials->judged_to - sweep.sampler.kept.size() : 0);
  if (replaced) replaced = RecordEdit(*directory, *file, *trials, view->progress(), all);
  if (replaced) {
    file->words = options.words;
    const auto space = CompiledSpace::Of(sweep.space);
    std::set<std::string> names(file->names.begin(), file->names.end());
    names.insert(space->names().begin(), space->names().end());
    file->names.assign(names.begin(), names.end());
    file->trials = all;
    const std::string text = SweepFileText(*file, SweepDescriptionValue(sweep));
    if (text.size() > kSweepEntry.most) {
      replaced =
          Fail(Error("sweep", {}, "the sweep has too many trials to be edited", "start another one with --from"));
    } else {
      replaced = ReplaceFile(directory->folder(), kSweepEntry.name, text);
    }
  }
  if (!replaced) return Refuse(replaced.error(), options.json);
  edit->printed.edited = true;
  print();
  return kExitOk;
}

}  // namespace

std::string EditSchema() { return SchemaOf<PartForms>(PrintedEdit()); }

std::function<int()> SetupEdit(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<EditOptions>();
  app.add_option("SWEEP", options->sweep, "path, name, name~1 (the one before) or id prefix")->required();
  AddSweepOptions(app, options->described, invocation);
  app.add_flag("--yes", options->yes, "edit the sweep, instead of showing what would change");
  app.add_flag("--json", options->json, "print JSON for programs");
  for (std::size_t i = 0; i < invocation.words.size(); ++i) {
    const std::string& word = invocation.words[i];
    if (i > 0 && word != "--yes" && word != "--json") options->words.push_back(word);
  }
  return [options] { return RunEdit(*options); };
}

}  // namespace muster
