// muster edit: gives a sweep another space, condition or sampler; its trials keep their results.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/named_hosts.h"
#include "cli/sweeps/run_sweep.h"
#include "cli/sweeps/sweep_options.h"
#include "run/control/control_protocol.h"
#include "run/directory/run_directory.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_edit.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/scheduler/trial_points.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

constexpr std::size_t kMaxPointsShown = 5;
constexpr std::size_t kEditIdBytes = 6;

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

Result<void> ForEachEntry(const std::string& sweep_dir, const std::function<void(const SweepEntry&)>& take) {
  const UniqueFd folder(::open(sweep_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Fail(SystemError("sweep", "cannot open " + Quoted(sweep_dir), errno));
  std::string stopped;
  ReadSweepJournal(
      folder.get(), {}, [&](const SweepRecord& record) { take(record.entry); }, stopped);
  return {};
}

struct Edit {
  PrintedEdit printed;
  std::uint64_t trials = 0;  // of the sweep, with those so far
};

// What becomes of which points. Sets `sweep.sampler.kept` and `edited_at`.
Result<Edit> PlanEdit(const std::string& folder, const SweepProgress& progress, Sampler& before,
                      SweepDescription& sweep) {
  const TrialNumber from = progress.judged_to();
  const auto trials = ReadTrialsSoFar(folder, from);
  if (!trials) return Fail(trials.error());
  const auto space = CompiledSpace::Of(sweep.space);
  if (!space) return Fail(space.error());
  auto kept = KeptPoints(*trials, from, sweep.space, sweep.sampler);
  if (!kept) return Fail(kept.error());
  sweep.sampler.kept = *std::move(kept);
  sweep.sampler.edited_at = from;
  const auto sampler = Sampler::Of(*space, sweep.sampler);
  if (!sampler) return Fail(sampler.error());
  Edit edit;
  for (const auto& [trial, point] : trials->begun) {
    Add(space->Locate(point) ? edit.printed.kept : edit.printed.kept_outside, point);
  }
  // Before chosen points that wait are counted.
  const std::uint64_t first = sweep.sampler.kept.size();
  const std::uint64_t size = (*sampler)->size();
  TrialPoints points(**sampler, sweep, progress.edits() + 1);
  auto replayed = ForEachEntry(folder, [&](const SweepEntry& entry) { points.Take(entry); });
  if (!replayed) return Fail(replayed.error());
  points.Take(SweepEdited{});
  edit.trials = points.size();
  edit.printed.fresh.count = edit.trials - from;
  if ((*sampler)->is_sequence()) {
    for (std::uint64_t i = first; i < std::min<std::uint64_t>(size, first + kMaxPointsShown); ++i) {
      edit.printed.fresh.first.push_back((*sampler)->At(i));
    }
  }
  // Of a sequence the points that it would still have tried are known.
  if (before.is_sequence()) {
    std::set<std::string> still;
    constexpr std::uint64_t kMaxCompared = 100'000;
    if ((*sampler)->is_sequence() && size - first <= kMaxCompared) {
      for (std::uint64_t i = first; i < size; ++i) still.insert(PointText((*sampler)->At(i)));
    }
    std::set<std::string> begun;
    for (const auto& [trial, point] : trials->begun) begun.insert(PointText(point));
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

// What a running sweep has beside its description.
Result<void> CheckSameHosts(const SweepFile& file, const RecipeOptions& now) {
  const auto before = ParseSweepArguments(file.words);
  if (!before) return Fail(before.error());
  const auto names = [](const RecipeOptions& options) -> Result<std::vector<std::string>> {
    const auto hosts = NamedHosts(options);
    if (!hosts) return Fail(hosts.error());
    std::vector<std::string> named;
    for (const SiteHost& host : *hosts) named.push_back(host.name);
    return named;
  };
  const auto then = names(before->sweep.recipe);
  const auto said = names(now);
  if (!said) return Fail(said.error());
  if (then && *then == *said && before->sweep.recipe.engine.on == now.engine.on) return {};
  return Fail(Error("running", {}, "the edited sweep names other hosts, and it is running",
                    "say the same --host, --hostfile or --on as before, or stop it first: muster stop SWEEP --wait"));
}

// Options of the sweep that are no part of an edit: they stay.
std::vector<std::string> WordsOfEdit(std::vector<std::string> words, const SweepFile& file) {
  const auto before = ParseSweepArguments(file.words);
  if (!before) return words;
  for (const std::string& notify : before->notify) {
    words.emplace_back("--notify");
    words.push_back(notify);
  }
  if (!before->agent.empty()) {
    words.emplace_back("--agent");
    words.push_back(before->agent);
  }
  return words;
}

// Hands the edit to the head, which carries it out before it answers.
Result<void> AskHead(const std::string& sweep_dir, const SweepEdit& edit) {
  auto head = ControlConnection::Open(sweep_dir);
  if (!head) return Fail(std::move(head.error()));
  const UniqueFd folder(::open(sweep_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Fail(SystemError("sweep", "cannot open " + Quoted(sweep_dir), errno));
  const std::string name = ProposedEditName(edit.id);
  if (auto written = WriteEdit(folder.get(), name, edit); !written) return written;
  ControlRequest request;
  request.ask = ControlRequest::Ask::kEdit;
  request.edit = edit.id;
  const auto answer = head->Ask(request);
  ::unlinkat(folder.get(), name.c_str(), 0);
  if (!answer) return Fail(answer.error());
  return {};
}

int RunEdit(EditOptions& options) {
  if (!options.described.from.empty() || !options.described.tries.empty()) {
    return Refuse({Error("usage", {}, "--from and --try are no part of an edit",
                         "chosen points: muster steer SWEEP --try lr=0.1; a sweep learns from another one from its "
                         "beginning only")},
                  options.json);
  }
  const auto found = FindSweep(options.sweep, DirectoryUse::kWrite);
  if (!found) return Refuse(found.error(), options.json);
  const bool running = IsRunLive(*found);
  std::optional<RunDirectory> directory;
  if (!running) {
    auto held = HoldSweepDirectory(*found);
    if (!held) return Refuse(held.error(), options.json);
    directory.emplace(*std::move(held));
    if (auto edited = CarryOutHeldEdit(*directory); !edited) return Refuse(edited.error(), options.json);
  }
  auto file = ReadSweepFile(*found);
  if (!file) return Refuse(file.error(), options.json);
  const auto before = ReadSweepDescription(*found);
  if (!before) return Refuse(before.error(), options.json);
  SweepProgress progress;
  const auto read = ForEachEntry(*found, [&](const SweepEntry& entry) { progress.Take(entry); });
  if (!read) return Refuse(read.error(), options.json);

  Evaluator evaluator;
  options.described.given = before->sampler.given;
  auto described = DescribeSweep(options.described, evaluator);
  if (!described) return Refuse(described.error(), options.json);
  SweepDescription& sweep = described->sweep;
  PrintDiagnostics(WarnOfConditions(sweep.space));
  if (auto sound = CheckEdit(*before, sweep, running); !sound) return Refuse(sound.error(), options.json);
  if (auto same = running ? CheckSameHosts(*file, options.described.recipe) : Result<void>(); !same) {
    return Refuse(same.error(), options.json);
  }
  auto space_before = CompiledSpace::Of(before->space);
  if (!space_before) return Refuse(space_before.error(), options.json);
  const auto sampler_before = Sampler::Of(*space_before, before->sampler);
  if (!sampler_before) return Refuse(sampler_before.error(), options.json);
  auto edit = PlanEdit(*found, progress, **sampler_before, sweep);
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
  file->words = WordsOfEdit(options.words, *file);
  const auto space = CompiledSpace::Of(sweep.space);
  std::set<std::string> names(file->names.begin(), file->names.end());
  names.insert(space->names().begin(), space->names().end());
  file->names.assign(names.begin(), names.end());
  file->trials = edit->trials;
  const SweepEdit made = {RandomHex(kEditIdBytes), InputsValue(first->inputs), EvaluationRecord(described->evaluation),
                          first->sources, SweepFileText(*file, SweepDescriptionValue(sweep))};
  // Once it is written as a whole it holds, whatever ends this command.
  auto edited = running ? AskHead(*found, made) : WriteEdit(directory->folder(), kEditEntry.name, made);
  if (edited && !running) edited = CarryOutHeldEdit(*directory);
  if (!edited) return Refuse(edited.error(), options.json);
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
