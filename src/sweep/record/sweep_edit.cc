#include "sweep/record/sweep_edit.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "run/directory/run_files.h"
#include "sweep/record/sweep_journal.h"
#include "wire/archive/value_archive.h"

namespace muster {

namespace {

constexpr std::size_t kIdDigits = 12;
constexpr const char* kGivenUp = "given up: the sweep was edited before it began";

tl::unexpected<Diagnostics> CannotEdit(const std::string& why) {
  return Fail(MachineError("sweep", "the edit of the sweep cannot be carried out: " + why));
}

}  // namespace

Result<TrialsSoFar> ReadTrialsSoFar(int folder, TrialNumber to) {
  TrialsSoFar trials;
  std::string stopped;
  ReadSweepJournal(
      folder, {},
      [&](const SweepRecord& record) {
        if (const auto* began = std::get_if<AttemptBegan>(&record.entry); began != nullptr && began->trial < to) {
          trials.begun[began->trial] = began->point;
        }
        const auto* judged = std::get_if<PointsJudged>(&record.entry);
        if (judged == nullptr || !judged->chosen || judged->count == 0 || judged->first >= to) return;
        trials.chosen.Add(TrialRange{judged->first, std::min(to, judged->first + judged->count) - 1});
      },
      stopped);
  return trials;
}

Result<TrialsSoFar> ReadTrialsSoFar(const std::string& sweep_dir, TrialNumber to) {
  const UniqueFd folder(::open(sweep_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Fail(SystemError("sweep", "cannot open " + Quoted(sweep_dir), errno));
  return ReadTrialsSoFar(folder.get(), to);
}

// By number of the sampler's trials: a sequence does not count chosen ones.
Result<std::vector<Point>> KeptPoints(const TrialsSoFar& trials, TrialNumber to, const Space& space,
                                      const SamplerChoice& sampler) {
  const auto compiled = CompiledSpace::Of(space);
  if (!compiled) return Fail(compiled.error());
  SamplerChoice alone = sampler;
  alone.kept.clear();
  alone.edited_at = 0;
  const auto made = Sampler::Of(*compiled, alone);
  if (!made) return Fail(made.error());
  std::vector<Point> kept;
  for (TrialNumber trial = 0; trial < to; ++trial) {
    if ((*made)->is_sequence() && trials.chosen.Has(trial)) continue;
    const auto begun = trials.begun.find(trial);
    kept.push_back(begun == trials.begun.end() ? Point() : begun->second);
  }
  return kept;
}

template <class A>
void Fields(A& archive, SweepEdit& edit) {
  std::uint64_t format = 1;
  archive(format);
  if constexpr (A::kReading) {
    if (format != 1) return archive.Fail();
  }
  archive(edit.id, edit.inputs, edit.evaluation, edit.sources, edit.sweep);
}

bool IsEditId(std::string_view id) {
  return id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string ProposedEditName(std::string_view id) { return fmt::format("{}.{}", kEditEntry.name, id); }

Result<void> WriteEdit(int folder, const std::string& name, const SweepEdit& edit) {
  const std::string bytes = Archived(edit);
  if (bytes.size() > kEditEntry.most || edit.sweep.size() > kSweepEntry.most) {
    return Fail(Error("sweep", {}, "the description and the recipe of the edited sweep are too large",
                      "start another one with muster sweep --from"));
  }
  return ReplaceFile(folder, name, bytes);
}

Result<SweepEdit> ReadEdit(int folder, const std::string& name) {
  const auto bytes = ReadFileAt(folder, name, kEditEntry.most, O_NOFOLLOW);
  if (!bytes) return Fail(bytes.error());
  auto edit = Unarchived<SweepEdit>(*bytes);
  const auto leaves = [](const auto& source) {
    return source.first.empty() || source.first.front() == '/' ||
           ("/" + source.first + "/").find("/../") < std::string::npos;
  };
  if (!edit || !IsEditId(edit->id) || std::any_of(edit->sources.begin(), edit->sources.end(), leaves)) {
    return Fail(Error("sweep", {}, fmt::format("the file {} of the sweep is not an edit of this muster", Quoted(name)),
                      "remove it, and repeat muster edit"));
  }
  return *std::move(edit);
}

namespace {

bool DifferIn(const Value& before, const Value& now, const char* name) {
  const Value* const then = FieldOf(before, name);
  const Value* const said = FieldOf(now, name);
  return (then == nullptr ? Value() : *then) != (said == nullptr ? Value() : *said);
}

bool SameSeeds(const std::optional<SeedsChoice>& before, const std::optional<SeedsChoice>& now) {
  if (!before || !now) return before.has_value() == now.has_value();
  return before->param == now->param && before->count == now->count && before->median == now->median;
}

}  // namespace

Result<void> CheckEdit(const SweepDescription& before, const SweepDescription& now, bool running) {
  const Value then = SweepDescriptionValue(before);
  const Value said = SweepDescriptionValue(now);
  if (DifferIn(then, said, "objective")) {
    return Fail(Error("rules_changed", {}, "the edited sweep has another objective",
                      "its results are compared by it: start another sweep with muster sweep"));
  }
  if (DifferIn(then, said, "early_stop")) {
    return Fail(Error("rules_changed", {}, "the edited sweep has another rule of early stopping",
                      "its trials were compared by it; muster whatif replays them with another rule"));
  }
  if (!SameSeeds(before.sampler.seeds, now.sampler.seeds)) {
    return Fail(Error("rules_changed", {}, "the edited sweep has other seeds",
                      "its points are ranked by the results of all of them: start another sweep with --from, which "
                      "learns from this one"));
  }
  if (!running) return {};
  const auto refuse = [](const std::string& what) {
    return Fail(Error("running", {}, what + " of a running sweep cannot be edited",
                      "muster stop SWEEP --wait, then muster edit, then muster resume SWEEP --detach: all results are "
                      "kept, and trials that were interrupted are tried again"));
  };
  if (KindOf(before.sampler).pipes || KindOf(now.sampler).pipes) return refuse("the program that chooses the points");
  if (DifferIn(then, said, "metrics")) return refuse("the sources of metrics");
  if (DifferIn(then, said, "retry")) return refuse("the rules of retries");
  if (before.budget.devices != now.budget.devices) return refuse("the number of devices in use at a time");
  if (before.budget.per_device != now.budget.per_device) return refuse("the number of trials on a device");
  if (before.budget.time_ms != now.budget.time_ms) return refuse("the time");
  return {};
}

std::vector<SweepEntry> EntriesOfEdit(SweepEdited edited, const SweepProgress& progress, const TrialSet& chosen) {
  TrialSet given_up;
  for (const auto& [trial, open] : progress.open()) {
    if (open.attempts == 0 && trial < edited.from && !chosen.Has(trial)) given_up.Add(trial);
  }
  std::vector<SweepEntry> entries;
  if (progress.last_edit() != edited.edit) entries.emplace_back(std::move(edited));
  for (const TrialRange& range : given_up.ranges()) {
    entries.emplace_back(PointsJudged{range.first, range.second - range.first + 1, {{kGivenUp, "", {range}}}});
  }
  return entries;
}

Result<void> ReplaceEditedRecipe(int folder, const SweepEdit& edit) {
  return ReplaceRecipe(folder, edit.inputs, edit.evaluation, edit.sources);
}

Result<void> FinishEdit(int folder, const SweepEdit& edit) {
  if (auto replaced = ReplaceFile(folder, kSweepEntry.name, edit.sweep); !replaced) return replaced;
  if (::unlinkat(folder, kEditEntry.name, 0) != 0 && errno != ENOENT) {
    return Fail(SystemError("sweep", "the file of the edit cannot be removed", errno));
  }
  return {};
}

Result<void> CarryOutEdit(int folder, const std::string& sweep_dir,
                          const std::function<Result<std::string>()>& recipe_hash) {
  if (!EntryExists(folder, kEditEntry.name)) return {};
  const auto edit = ReadEdit(folder, kEditEntry.name);
  if (!edit) return Fail(edit.error());
  const auto described = ParseSweepFile(edit->sweep, sweep_dir);
  if (!described) return Fail(described.error());
  const auto& [file, sweep] = *described;
  SweepProgress progress;
  std::string stopped;
  const JournalPosition end = ReadSweepJournal(
      folder, {}, [&](const SweepRecord& record) { progress.Take(record.entry); }, stopped);
  const auto trials = ReadTrialsSoFar(folder, sweep.sampler.edited_at);
  if (!trials) return Fail(trials.error());
  if (auto replaced = ReplaceEditedRecipe(folder, *edit); !replaced) return replaced;
  auto hash = recipe_hash();
  if (!hash) return Fail(hash.error());
  SweepEdited edited;
  edited.edit = edit->id;
  edited.from = sweep.sampler.edited_at;
  edited.trials = file.trials;
  edited.accepted = *hash != progress.recipe();
  edited.recipe = *std::move(hash);
  if (const auto& seeds = sweep.sampler.seeds) edited.seeds = {seeds->param, seeds->count, seeds->median};
  std::vector<SweepEntry> entries = EntriesOfEdit(edited, progress, trials->chosen);
  if (!entries.empty()) {
    SweepBegan began;
    began.sweep_id = file.sweep_id;
    began.name = file.name;
    began.trials = progress.trials();
    began.pid = ::getpid();
    began.muster = MUSTER_VERSION;
    began.recipe = progress.recipe();
    began.seeds = edited.seeds;
    entries.insert(entries.begin(), began);
    entries.emplace_back(SweepEnded{false, "edited", 0});
    auto journal = SweepJournalWriter::Continue(folder, end);
    if (!journal) return Fail(journal.error());
    for (SweepEntry& entry : entries) {
      if (journal->Append(std::move(entry), WallNowNs()) != 0) return CannotEdit("its journal cannot be written");
    }
    if (journal->Sync() != 0) return CannotEdit("its journal cannot be synced to disk");
  }
  return FinishEdit(folder, *edit);
}

}  // namespace muster
