#include "cli/sweeps/run_sweep.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <CLI/Validators.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "cli/command/command_output.h"
#include "cli/launch/background_run.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/named_hosts.h"
#include "cli/sweeps/submit_sweep.h"
#include "run/directory/run_files.h"
#include "run/directory/run_tags.h"
#include "run/directory/runtime_directory.h"
#include "sweep/head/optimizer_pipe.h"
#include "sweep/head/sweep_head.h"
#include "sweep/head/trial_planner.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_edit.h"
#include "sweep/scheduler/host_pool.h"
#include "transport/transport.h"
#include "wire/files/run_layout.h"

namespace muster {

Result<Evaluation> FirstEvaluation(const DescribedSweep& described, Evaluator& evaluator) {
  constexpr std::uint64_t kLookedAt = 512;
  EvaluationOptions options = described.evaluation;
  auto space = CompiledSpace::Of(described.sweep.space);
  if (!space) return Fail(space.error());
  SamplerChoice choice = described.sweep.sampler;
  choice.kept.clear();  // the points of earlier trials are not those of now
  if (KindOf(choice).pipes) choice.kind = SamplerChoice::Kind::kRandom;  // a program has not given any points yet
  auto sampler = Sampler::Of(*space, choice);
  if (!sampler) return Fail(sampler.error());
  const auto points = (*sampler)->Ask(0, std::min(kLookedAt, (*sampler)->size()));
  const auto judgement = evaluator.Judge(options, described.sweep, JudgeRequest::Of(0, points));
  if (!judgement) return Fail(judgement.error());
  for (const PossiblePoints& possible : judgement->footprints) {
    if (possible.ranges.empty()) continue;
    AddPoint(points.at(possible.ranges.front().first), options.overrides);
    auto first = evaluator.Evaluate(options);
    if (!first || !described.sweep.early_stop || !described.sweep.early_stop->promote) return first;
    if (auto keeps = CheckKeepsCheckpoints(first->plan); !keeps) return Fail(std::move(keeps.error()));
    options.resumed = kAnyRun;
    const auto resumed = evaluator.Evaluate(options);
    if (!resumed) return Fail(resumed.error());
    if (auto takes = CheckTakesCheckpoint(resumed->plan); !takes) return Fail(std::move(takes.error()));
    return first;
  }
  options.task = PlanTask{EvaluationDepth::kParameters};
  return evaluator.Evaluate(options);
}

namespace {

constexpr std::size_t kSweepIdBytes = 6;

// The first evaluation of a sweep that will run: prints warnings, refuses what a run refuses, and adds the device facts
// to the description.
Result<Evaluation> FirstOf(DescribedSweep& described, Evaluator& evaluator) {
  auto first = FirstEvaluation(described, evaluator);
  if (!first) return first;
  if (Diagnostics refused = RefusedByRun(first->warnings); !refused.empty()) return Fail(std::move(refused));
  PrintDiagnostics(first->warnings);
  PrintDiagnostics(WarnOfRemoved(*first));
  const TrialNeeds needs = NeedsOf(first->plan);
  // Concurrent trials share a host's devices.
  described.evaluation.devices.any =
      std::any_of(needs.begin(), needs.end(), [](const HostShare& share) { return share.devices > 0; });
  described.devices_per_host = first->devices_per_host;
  return first;
}

// The hosts for trials: the named ones, or this machine (none).
std::vector<SiteHost> HostsToReach(std::vector<SiteHost> named) {
  if (IsHereAlone(named)) named.clear();
  return named;
}

// The hosts named when continuing a sweep; nothing: those of the sweep.
Result<std::optional<std::vector<SiteHost>>> OtherHosts(const RecipeOptions& options) {
  if (auto checked = CheckNoSpares(options); !checked) return Fail(checked.error());
  if (auto named = CheckListIsNamed(options, "the sweep"); !named) return Fail(named.error());
  if (!NamesHosts(options)) return std::nullopt;
  auto hosts = NamedHosts(options);
  if (!hosts) return Fail(hosts.error());
  return *std::move(hosts);
}

// The description as stored in its folder.
Result<DescribedSweep> DescribeStored(const std::string& folder, const SweepOptions& options, Evaluator& evaluator) {
  auto stored = EvaluationOfRun(folder);
  if (!stored) return Fail(stored.error());
  stored->without = options.recipe.without;
  return DescribeSweep(options, *std::move(stored), evaluator);
}

struct Start {
  SweepFile file;
  DescribedSweep described;
  bool accepted = false;
  std::vector<SiteHost> hosts;
  const Plan& first_plan;
  std::function<Result<std::vector<TrialRange>>(const SweepProgress&)> reopen;
  std::function<void()> on_begun = {};
  SteeringRequest steering = {};
  const RequestedSweep* each_trial = nullptr;  // each trial gets an allocation of its own: `hosts` are none
  NotifyChoice notify = {};
  bool all_hosts = false;  // they were named when it was continued
};

// How many devices each host has for trials, if it does not say so itself.
Result<std::uint32_t> DevicesOfHosts(const Start& start, const EvaluationOptions& evaluation,
                                     const std::vector<SiteHost>& hosts) {
  const Site& site = evaluation.site;
  std::uint32_t devices = site.devices_per_host.value_or(site.host_devices);
  if (devices == 0) devices = start.described.devices_per_host;
  if (start.each_trial != nullptr) {
    return DevicesOf(start.each_trial->call.page, start.each_trial->call.settings).value_or(devices);
  }
  const DeviceUse& use = evaluation.devices;
  if (!use.given.empty()) return static_cast<std::uint32_t>(use.given.size());
  if (!hosts.empty()) return devices;
  // The current state: a resumed sweep may see other devices than at its beginning.
  const auto own = OwnDevices(start.first_plan.device_use.kind);
  if (!own) return Fail(own.error());
  return *own > 0 ? std::min(devices, *own) : devices;
}

// What a sweep needs of this machine and of its hosts.
struct Surroundings {
  RunRequest run;  // its environment and access
  std::vector<SiteHost> hosts;
  std::uint32_t devices = 0;
  std::unique_ptr<EngineAllocator> allocator;
  std::unique_ptr<Transport> transport;
  std::vector<Notification> notifications;
};

// Everything that can be refused without the sweep's directory: called before a new one is made.
Result<Surroundings> Prepare(Start& start, const EvaluationOptions& evaluation, const StartOptions& options,
                             const RecipeOptions& recipe) {
  Surroundings made;
  const SamplerChoice& sampler = start.described.sweep.sampler;
  if (KindOf(sampler).pipes) {
    if (auto exists = OptimizerPipe::Check(sampler); !exists) return Fail(exists.error());
  }
  auto surroundings = SetCallerEnvironment(made.run);
  if (!surroundings) return Fail(surroundings.error());
  for (const auto& [name, secret] : start.first_plan.secrets) BlankVariable(secret.from_env);
  Plan notify;
  notify.notifications = start.first_plan.notifications;
  if (auto applied = ApplyNotify(notify, start.notify); !applied) return Fail(applied.error());
  BlankNotifySecrets(notify.notifications);
  made.notifications = std::move(notify.notifications);
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  made.run.for_group = site->facts.access == SiteAccess::kGroup;
  auto verdict_rules = ReadVerdictRules(site->facts);
  if (!verdict_rules) return Fail(std::move(verdict_rules.error()));
  made.run.verdict_rules = *std::move(verdict_rules);
  made.hosts = std::move(start.hosts);
  const auto devices = DevicesOfHosts(start, evaluation, made.hosts);
  if (!devices) return Fail(devices.error());
  made.devices = *devices;
  if (!evaluation.devices.given.empty()) {
    for (SiteHost& host : made.hosts) host.devices = made.devices;
  }
  AgentSettings agents;
  agents.program = options.agent;
  agents.environment = made.run.environment;
  if (start.each_trial != nullptr) {
    const BatchCall& call = start.each_trial->call;
    made.allocator =
        std::make_unique<EngineAllocator>(call.page, call.settings, start.file.name, recipe.without, agents);
  }
  auto transport = TransportTo(recipe, made.hosts, std::move(agents));
  if (!transport) return Fail(transport.error());
  made.transport = *std::move(transport);
  made.run.environment = EnvironmentForHosts(recipe, made.hosts, std::move(made.run.environment));
  return made;
}

// Runs the sweep from its directory to its end.
Result<SweepOutcome> Carry(Start start, const RunDirectory& directory, Surroundings made, const StartOptions& options,
                           const RecipeOptions& recipe) {
  SweepRequest request;
  request.description = std::move(start.described.sweep);
  request.folder = directory.path();
  request.folder_fd = directory.folder();
  request.began.sweep_id = start.file.sweep_id;
  request.began.name = start.file.name;
  request.began.muster = MUSTER_VERSION;
  request.stored = [folder = directory.path(), without = recipe.without]() -> Result<SweepRequest::Stored> {
    auto hash = RecipeHashOf(folder);
    if (!hash) return Fail(hash.error());
    auto stored = EvaluationOfRun(folder);
    if (!stored) return Fail(stored.error());
    stored->without = without;
    return SweepRequest::Stored{*std::move(stored), *std::move(hash)};
  };
  auto stored = request.stored();
  if (!stored) return Fail(stored.error());
  request.began.recipe = std::move(stored->recipe);
  request.evaluation = std::move(stored->evaluation);
  request.began.accepted = start.accepted;
  request.began.all_hosts = start.all_hosts;
  request.reopen = std::move(start.reopen);
  request.steering = start.steering;
  request.evaluation_record = EvaluationRecord;
  request.has_context = !start.first_plan.mindspore.empty();
  request.run = std::move(made.run);
  request.hosts = std::move(made.hosts);
  request.devices = made.devices;
  request.allocator = made.allocator.get();
  request.quiet = options.quiet;
  const char* terminal = std::getenv("TERM");
  request.progress = !options.no_progress && terminal != nullptr && std::string_view(terminal) != "dumb";
  request.err = STDERR_FILENO;
  request.notifications = std::move(made.notifications);
  request.on_begun = std::move(start.on_begun);
  return RunSweep(std::move(request), *made.transport);
}

// A new sweep that was refused before it began leaves no directory that could be taken for one.
void DiscardIfNotBegun(const RunDirectory& directory) {
  std::error_code error;
  if (std::filesystem::exists(kJournalEntry.In(directory.path()), error) || error) return;
  DiscardDirectory(directory.path(), kSweepDirectories);
}

int Run(Start start, const RunDirectory& directory, Surroundings made, const StartOptions& options,
        const RecipeOptions& recipe) {
  const std::string id = start.file.sweep_id;
  const auto outcome = Carry(std::move(start), directory, std::move(made), options, recipe);
  if (!outcome) {
    DiscardIfNotBegun(directory);
    return Refuse(outcome.error());
  }
  if (!LeadsTo(directory.path(), directory.folder())) {
    std::fprintf(stderr, "muster: the sweep continues only with its directory at %s: bring it back, or begin another\n",
                 ShellQuoted(directory.path()).c_str());
    return outcome->exit_code == 0 ? kExitMachine : outcome->exit_code;
  }
  if (!outcome->complete && !options.quiet) {
    std::fprintf(stderr, "muster: continue with: muster resume %s\n", ShellQuoted(id).c_str());
  }
  return outcome->exit_code;
}

int FailInBackground(BackgroundLine& line, const Diagnostics& problems) {
  line.Failed(ExitCodeFor(problems), problems);
  return Refuse(problems);
}

// In the new process. The caller hears of the first trial that begins, or why none does.
int CarryInBackground(Start start, const RunDirectory& directory, Surroundings made, const StartOptions& options,
                      const RecipeOptions& recipe, BackgroundLine& line) {
  if (auto kept = RedirectToHeadLog(directory.folder(), STDERR_FILENO); !kept)
    return FailInBackground(line, kept.error());
  const std::string id = start.file.sweep_id;
  const auto begun = [&] { line.Begun(id, directory.path(), {}); };
  start.on_begun = begun;
  const auto outcome = Carry(std::move(start), directory, std::move(made), options, recipe);
  if (!outcome) {
    DiscardIfNotBegun(directory);
    return FailInBackground(line, outcome.error());
  }
  if (outcome->exit_code != 0) {  // the first message to the caller: no trial has begun
    line.Failed(outcome->exit_code, {MachineError("sweep", "the sweep did not begin: " + outcome->why,
                                                  "its files are in " + directory.path())});
  }
  begun();
  return outcome->exit_code;
}

}  // namespace

void AddSweepStartOptions(CLI::App& app, StartOptions& options) {
  app.add_flag("--quiet,-q", options.quiet, "show only failures");
  app.add_flag("--no-progress", options.no_progress, "no progress rows on a terminal");
  AddAgentOption(app, options.agent);
  AddNotifyOption(app, options.notify);
}

void AddSteeringOptions(CLI::App& app, SteeringRequest& steering, std::vector<std::string>& tries) {
  app.add_option("--slots", steering.slots, "run no more trials than this at once")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--add-trials", steering.add_trials, "let the sampler add this number of trials")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U));
  app.add_option("--unskip", steering.unskip, "try points with this value again, which were skipped")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  AddDeviceHoursOption(app, steering.device_hours);
  AddTryOption(app, tries);
}

namespace {

// A new sweep before its directory exists.
struct NewSweep {
  SweepFile file;
  std::string sweeps_folder;
  bool for_group = false;
};

Result<NewSweep> DescribeNew(const SweepCall& call) {
  const SweepDescription& sweep = call.described.sweep;
  NewSweep made;
  std::error_code error;
  SweepFile& file = made.file;
  file.sweep_id = RandomHex(kSweepIdBytes);
  file.name = sweep.name;
  file.doc = sweep.doc;
  file.objective = sweep.objective;
  file.second_objective = sweep.second_objective;
  file.words = call.start.words;
  file.cwd = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  auto space = CompiledSpace::Of(sweep.space);
  if (!space) return Fail(space.error());
  file.names = space->names();
  if (const auto sampler = Sampler::Of(*space, sweep.sampler)) {
    file.trials = (*sampler)->size() + (sweep.sampler.shard == 0 ? sweep.seed_points.size() : 0);
  }
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  made.for_group = site->facts.access == SiteAccess::kGroup;
  auto sweeps_folder = DefaultSweepsFolder();
  if (!sweeps_folder) return Fail(sweeps_folder.error());
  made.sweeps_folder = *std::move(sweeps_folder);
  return made;
}

Result<RunDirectory> MakeDirectory(const NewSweep& made, const DescribedSweep& described,
                                   const std::vector<std::string>& tags, const Evaluation& first) {
  auto directory = MakeSweepDirectory(made.sweeps_folder, made.file.name, StampText(WallNowNs()), made.file.sweep_id,
                                      made.for_group);
  if (!directory) return directory;
  SweepFile file = made.file;
  for (const ParameterState& state : first.parameters) {
    const std::string was = FormerName(state.parameter);
    if (was.empty() || std::find(file.names.begin(), file.names.end(), state.parameter.name) == file.names.end())
      continue;
    file.former_names.emplace(state.parameter.name, was);
  }
  // sweep.json is written last: without it the directory is not a sweep.
  auto written = WriteRecipe(directory->folder(), InputsValue(first.inputs), EvaluationRecord(described.evaluation), {},
                             first.sources);
  if (written) written = WriteTags(directory->folder(), tags);
  if (written) {
    written = WriteNewFile(directory->folder(), kSweepEntry.name,
                           SweepFileText(file, SweepDescriptionValue(described.sweep)));
  }
  if (written) return directory;
  DiscardDirectory(directory->path(), kSweepDirectories);
  return Fail(written.error());
}

Start StartOf(SweepCall& call, const NewSweep& made, const Plan& first_plan) {
  const RequestedSweep* each_trial = call.requested ? &*call.requested : nullptr;
  auto hosts = each_trial != nullptr ? std::vector<SiteHost>() : HostsToReach(std::move(call.described.hosts));
  return {made.file, call.described, false, std::move(hosts), first_plan, {}, {}, {}, each_trial, call.checked.notify};
}

int RunNewInBackground(SweepCall& call, NewSweep made, const Evaluation& first, BackgroundLine& line) {
  Start start = StartOf(call, made, first.plan);
  auto surroundings = Prepare(start, call.described.evaluation, call.start, call.options.recipe);
  if (!surroundings) return FailInBackground(line, surroundings.error());
  const auto directory = MakeDirectory(made, call.described, call.checked.tags, first);
  if (!directory) return FailInBackground(line, directory.error());
  return CarryInBackground(std::move(start), *directory, *std::move(surroundings), call.start, call.options.recipe,
                           line);
}

}  // namespace

int StartSweep(SweepCall call) {
  auto checked = CheckStart(call.start);
  if (!checked) return Refuse(checked.error());
  call.checked = *std::move(checked);
  if (call.requested && call.requested->each_trial) {
    const SweepDescription& sweep = call.described.sweep;
    if (auto sound = CheckEachTrial(*call.requested, sweep, sweep.budget.slots); !sound) return Refuse(sound.error());
  }
  auto first = FirstOf(call.described, *call.evaluator);
  if (!first) return Refuse(first.error());
  auto made = DescribeNew(call);
  if (!made) return Refuse(made.error());
  if (call.requested && !call.requested->each_trial) {
    if (auto sound = CheckSubmission(*call.requested, made->sweeps_folder); !sound) return Refuse(sound.error());
    auto directory = MakeDirectory(*made, call.described, call.checked.tags, *first);
    if (!directory) return Refuse(directory.error());
    return SubmitSweep(*std::move(call.requested), made->file, *std::move(directory), true, call.start);
  }
  std::error_code ignored;
  if (const auto way = OpenWayTo(std::filesystem::weakly_canonical(made->sweeps_folder, ignored) / "trials")) {
    PrintDiagnostics({Warning("run_dir", {}, fmt::format("{}: {}", way->why, kOpenWay), way->hint)});
  }
  if (call.start.detach) {
    call.evaluator.reset();  // its process is a child of this process only
    return InBackground("sweep",
                        [&](BackgroundLine& line) { return RunNewInBackground(call, *std::move(made), *first, line); });
  }
  Start start = StartOf(call, *made, first->plan);
  auto surroundings = Prepare(start, call.described.evaluation, call.start, call.options.recipe);
  if (!surroundings) return Refuse(surroundings.error());
  auto directory = MakeDirectory(*made, call.described, call.checked.tags, *first);
  if (!directory) return Refuse(directory.error());
  const SweepFile& file = made->file;
  if (!call.start.quiet) {
    const std::string line = fmt::format("muster: sweep {} of {}: {} trials, in {}\n", file.sweep_id,
                                         Printable(file.name), file.trials, Printable(directory->path()));
    std::fputs(FittedLines(PrintableLines(line), ErrorColumns()).c_str(), stderr);
    const std::string& sampler = call.described.about_sampler;
    if (!sampler.empty()) std::fprintf(stderr, "muster: %s\n", Printable(sampler).c_str());
  }
  return Run(std::move(start), *directory, *std::move(surroundings), call.start, call.options.recipe);
}

namespace {

// A sweep keeps the names that it began with: its points are identified by them. Recipes still know them (`was`).
void KeepNames(const SweepFile& file, const Evaluation& first, SweepDescription& sweep) {
  std::map<std::string, std::string> kept;
  for (const ParameterState& state : first.parameters) {
    const std::string was = FormerName(state.parameter);
    const bool began = !was.empty() && std::find(file.names.begin(), file.names.end(), was) != file.names.end();
    if (began) kept.emplace(state.parameter.name, was);
  }
  if (kept.empty()) return;
  RenameInSpace(sweep.space, kept);
  for (Point& point : sweep.seed_points) {
    for (const auto& [name, was] : kept) {
      auto value = point.extract(name);
      if (value.empty()) continue;
      value.key() = was;
      point.insert(std::move(value));
    }
  }
}

// Those of --try behind the ones that the sweep began with; judged.
Result<std::vector<Point>> TakeChosen(DescribedSweep& described, std::size_t tries, Evaluator& evaluator) {
  std::vector<Point>& all = described.sweep.seed_points;
  const std::vector<std::size_t>& counts = described.chosen;
  const auto behind = static_cast<std::ptrdiff_t>(std::min(tries, counts.size()));
  const std::size_t points = std::accumulate(counts.end() - behind, counts.end(), std::size_t{0});
  const std::size_t first = all.size() - std::min(points, all.size());
  if (auto possible = CheckChosen(described, first, evaluator); !possible) return Fail(possible.error());
  PrintDiagnostics(WarnOfChosen(described.sweep, first));
  std::vector<Point> chosen(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
  all.resize(first);
  described.sweep.seed_places.resize(first);
  return chosen;
}

// Removes the points that are trials of the sweep already, and reports them: a point is tried once.
Result<void> LeaveOutTried(const std::string& folder, const std::string& id, std::vector<Point>& points) {
  if (points.empty()) return {};
  const auto view = SweepView::Open(folder);
  if (!view) return Fail(view.error());
  std::set<std::string> ids;
  for (const Point& point : points) ids.insert(PointId(point));
  std::map<std::string, TrialNumber> tried;
  auto read = view->ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
    if (ids.contains(row.id)) tried.emplace(row.id, row.trial);
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  Diagnostics warnings;
  std::erase_if(points, [&](const Point& point) {
    const auto found = tried.find(PointId(point));
    if (found == tried.end()) return false;
    warnings.push_back(
        Warning("point", {},
                fmt::format("the chosen point {} was tried already: it is trial {}, and is not tried again",
                            PointText(point), found->second),
                fmt::format("its result: muster show {}:{}; muster retry {} --trial {} repeats a trial", id,
                            found->second, id, found->second)));
    return true;
  });
  PrintDiagnostics(warnings);
  return {};
}

}  // namespace

Result<std::vector<Point>> ChosenPointsFor(const std::string& folder, const std::vector<std::string>& tries) {
  auto file = ReadSweepFile(folder);
  if (!file) return Fail(file.error());
  auto words = ParseSweepArguments(file->words);
  if (!words) return Fail(words.error());
  words->sweep.tries = tries;
  if (auto known = KeepKnown(folder, words->sweep); !known) return Fail(known.error());
  Evaluator evaluator;
  auto described = DescribeStored(folder, words->sweep, evaluator);
  if (!described) return Fail(described.error());
  auto chosen = TakeChosen(*described, tries.size(), evaluator);
  if (!chosen) return chosen;
  const auto first = FirstEvaluation(*described, evaluator);
  if (!first) return Fail(first.error());
  described->sweep.seed_points = *std::move(chosen);
  KeepNames(*file, *first, described->sweep);
  if (auto left = LeaveOutTried(folder, file->sweep_id, described->sweep.seed_points); !left) return Fail(left.error());
  return std::move(described->sweep.seed_points);
}

namespace {

// The request of a sweep that is continued outside of an allocation, with an allocation for each trial; else nothing.
Result<std::optional<RequestedSweep>> EachTrialFor(const SweepOptions& options) {
  const auto asks = AsksForAllocation(options.recipe.engine);
  if (!asks) return Fail(asks.error());
  if (!*asks) return std::nullopt;
  auto requested = RequestHostsFor(options);
  if (!requested) return Fail(requested.error());
  if (!requested->each_trial) return std::nullopt;
  return *std::move(requested);
}

}  // namespace

Result<void> CarryOutHeldEdit(const RunDirectory& sweep) {
  return CarryOutEdit(sweep.folder(), sweep.path(), [&] { return RecipeHashOf(sweep.path()); });
}

int ContinueSweep(const SweepContinuation& continuation) {
  const auto other_hosts = OtherHosts(continuation.hosts);
  if (!other_hosts) return Refuse(other_hosts.error());
  const auto found = FindSweep(continuation.sweep, DirectoryUse::kWrite);
  if (!found) return Refuse(found.error());
  auto directory = HoldSweepDirectory(*found);
  if (!directory) return Refuse(directory.error());
  if (auto edited = CarryOutHeldEdit(*directory); !edited) return Refuse(edited.error());
  const std::string& folder = directory->path();
  auto file = ReadSweepFile(folder);
  if (!file) return Refuse(file.error());
  const auto notify = ParseNotify(continuation.start.notify);
  if (!notify) return Refuse(notify.error());
  // Relative names are resolved there, and programs start there.
  std::error_code error;
  std::filesystem::current_path(file->cwd, error);
  if (error) {
    PrintDiagnostics({Warning("cwd", {},
                              fmt::format("the folder that the sweep was begun in cannot be entered: {} ({})",
                                          Quoted(file->cwd), error.message()),
                              "its programs begin in this one")});
  }
  auto words = ParseSweepArguments(file->words);
  if (!words) return Refuse(words.error());
  const auto notify_before = ParseNotify(words->notify);
  if (!notify_before) return Refuse(notify_before.error());
  SweepOptions options = words->sweep;
  if (auto known = KeepKnown(folder, options); !known) return Refuse(known.error());
  options.tries.insert(options.tries.end(), continuation.tries.begin(), continuation.tries.end());
  // Where the sweep began may not be where it is continued.
  RecipeOptions recipe = options.recipe;
  const EngineOptions& engine = continuation.hosts.engine;
  if (!engine.on.empty() || !engine.page.empty() || *other_hosts) recipe.engine = engine;
  StartOptions start = continuation.start;
  if (start.agent.empty()) start.agent = words->agent;

  const auto changes = ChangesOfSweep(folder);
  if (!changes) return Refuse(changes.error());
  if (!changes->empty() && !continuation.accept) {
    std::fputs(changes->c_str(), stderr);
    return Refuse({Error("recipe_changed", {}, "the inputs of the sweep's trials have changed since it began",
                         "continue with muster resume --accept, which keeps all results, or restore the recipe")});
  }
  std::optional<RequestedSweep> each_trial;
  if (!*other_hosts) {
    auto requested = EachTrialFor(WithEngineOf(continuation, options));
    if (!requested) return Refuse(requested.error());
    each_trial = *std::move(requested);
  }
  auto evaluator = std::make_unique<Evaluator>();
  auto described = changes->empty() ? DescribeStored(folder, options, *evaluator) : DescribeSweep(options, *evaluator);
  if (!described) return Refuse(described.error());
  if (auto kept = KeepDraws(folder, described->sweep); !kept) return Refuse(kept.error());
  auto first = FirstOf(*described, *evaluator);
  if (!first) return Refuse(first.error());
  auto chosen = TakeChosen(*described, continuation.tries.size(), *evaluator);
  if (!chosen) return Refuse(chosen.error());
  const auto seeds = static_cast<std::ptrdiff_t>(described->sweep.seed_points.size());
  described->sweep.seed_points.insert(described->sweep.seed_points.end(), chosen->begin(), chosen->end());
  KeepNames(*file, *first, described->sweep);
  SteeringRequest steering = continuation.steering;
  steering.points.assign(described->sweep.seed_points.begin() + seeds, described->sweep.seed_points.end());
  described->sweep.seed_points.resize(static_cast<std::size_t>(seeds));
  if (auto left = LeaveOutTried(folder, file->sweep_id, steering.points); !left) return Refuse(left.error());
  if (auto same = CheckSameSweep(folder, described->sweep); !same) return Refuse(same.error());
  std::vector<SiteHost> hosts;
  if (each_trial) {
    const auto& budget = described->sweep.budget;
    const auto slots = continuation.steering.slots ? continuation.steering.slots : budget.slots;
    if (auto sound = CheckEachTrial(*each_trial, described->sweep, slots); !sound) return Refuse(sound.error());
  } else if (*other_hosts) {
    hosts = **other_hosts;
  } else {
    auto named = NamedHosts(recipe);
    if (!named) return Refuse(named.error());
    hosts = *std::move(named);
  }
  const EvaluationOptions evaluation = described->evaluation;
  Start go = {*std::move(file),
              *std::move(described),
              continuation.accept,
              HostsToReach(std::move(hosts)),
              first->plan,
              continuation.reopen,
              {},
              steering,
              each_trial ? &*each_trial : nullptr,
              notify->empty() ? *notify_before : *notify,
              other_hosts->has_value()};
  // Only when the continuation is not refused any more.
  const auto replace_recipe = [&](const RunDirectory& held) -> Result<void> {
    if (changes->empty()) return {};
    return ReplaceRecipe(held.folder(), InputsValue(first->inputs), EvaluationRecord(evaluation), first->sources);
  };
  if (start.detach) {
    evaluator.reset();  // its process is a child of this process only
    const std::string held = directory->path();
    { const RunDirectory released = *std::move(directory); }  // the new process takes the lock
    return InBackground("sweep", [&](BackgroundLine& line) {
      const auto again = HoldSweepDirectory(held);
      if (!again) return FailInBackground(line, again.error());
      auto surroundings = Prepare(go, evaluation, start, recipe);
      if (!surroundings) return FailInBackground(line, surroundings.error());
      if (auto replaced = replace_recipe(*again); !replaced) return FailInBackground(line, replaced.error());
      return CarryInBackground(std::move(go), *again, *std::move(surroundings), start, recipe, line);
    });
  }
  auto surroundings = Prepare(go, evaluation, start, recipe);
  if (!surroundings) return Refuse(surroundings.error());
  if (auto replaced = replace_recipe(*directory); !replaced) return Refuse(replaced.error());
  return Run(std::move(go), *directory, *std::move(surroundings), start, recipe);
}

}  // namespace muster
