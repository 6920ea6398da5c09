// What is running now. muster ps: lists running runs and sweeps, with the running trials of sweeps. muster top: shows
// a running run, process by process, or a sweep, trial by trial.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/jobs/job_of_run.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "cli/lookup/run_list.h"
#include "metrics/metric_history.h"
#include "muster/result.h"
#include "run/directory/run_directory.h"
#include "run/directory/runtime_directory.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/watch/sweep_snapshot.h"
#include "top/screen.h"
#include "top/top.h"
#include "top/top_snapshots.h"
#include "top/top_state.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// The sweeps in the output of ps, with their running trials, as rows and as JSON.

struct ListedSweep {
  SweepSnapshot look;
  std::string word;  // its name (cli/lookup/run_argument.h)

  // "job:12", "job:12.2".
  std::string NameOf(const RunningTrial& trial) const { return word + ":" + trial.Word(); }
};

struct SweepList {
  std::vector<ListedSweep> sweeps;  // newest first
  Diagnostics unreadable;           // an error for each that cannot be read
};

// "2 of 4"; without a limit of slots "2".
std::string RunningText(const SweepSnapshot& sweep) {
  std::string text = std::to_string(sweep.running.size());
  if (sweep.live && sweep.file.slots > 0) text += fmt::format(" of {}", sweep.file.slots);
  return text;
}

std::string DoneText(const SweepSnapshot& sweep) {
  std::string text = fmt::format("{} of {}", sweep.over, sweep.possible);
  if (sweep.failed > 0) text += fmt::format(", {} failed", sweep.failed);
  return text;
}

// The sweeps of these folders, each a sweeps folder or a sweep directory; by default those below $MUSTER_HOME or the
// current folder. With `live_only` sweeps without an active head are not read.
Result<SweepList> FindSweeps(const std::vector<std::string>& folders, bool live_only) {
  std::vector<std::string> places = folders;
  if (places.empty()) {
    auto sweeps = DefaultSweepsFolder();
    if (!sweeps) return Fail(sweeps.error());
    places.push_back(*std::move(sweeps));
  }
  SweepList list;
  std::set<std::filesystem::path> seen;
  for (const std::string& place : places) {
    std::vector<std::string> paths;
    std::error_code error;
    if (std::filesystem::is_regular_file(kSweepEntry.In(place), error)) {
      paths.push_back(place);
    } else {
      for (const FoundRun& found : RunsBelow(place, kSweepDirectories)) paths.push_back(found.path);
    }
    for (const std::string& path : paths) {
      if ((live_only && !IsRunLive(path)) || !HasJournal(path)) continue;
      if (!seen.insert(std::filesystem::weakly_canonical(path, error)).second) continue;
      auto look = ReadSweepSnapshot(path);
      if (!look) {
        list.unreadable.insert(list.unreadable.end(), look.error().begin(), look.error().end());
      } else if (!live_only || look->live) {
        std::string word = WordForSweep(path, look->file.name, look->file.sweep_id);
        list.sweeps.push_back({*std::move(look), std::move(word)});
      }
    }
  }
  std::stable_sort(list.sweeps.begin(), list.sweeps.end(),
                   [](const ListedSweep& a, const ListedSweep& b) { return a.look.started_at > b.look.started_at; });
  return list;
}

void PrintSweepTable(const std::vector<ListedSweep>& sweeps) {
  if (sweeps.empty()) return;
  std::vector<std::vector<std::string>> rows = {
      {"SWEEP", "ID", "STARTED", "STATE", "DONE", "RUNNING", "WAITING", "TOOK", "BEST", "FOLDER"}};
  for (const ListedSweep& sweep : sweeps) {
    const SweepSnapshot& look = sweep.look;
    rows.push_back({Printable(look.file.name), Printable(look.file.sweep_id), TimeText(look.started_at),
                    look.waits.empty() ? look.state : "waiting for devices", DoneText(look), RunningText(look),
                    std::to_string(look.waiting), DurationText(look.seconds), look.BestText(), Printable(look.dir)});
  }
  PrintTable(rows);
}

// What is printed as JSON, members in the order of their names.
struct PrintedActiveSweep {
  const ListedSweep& sweep;
};
template <class V>
void Parts(V& v, const PrintedActiveSweep& printed) {
  const SweepSnapshot& look = printed.sweep.look;
  std::optional<PrintedBest> best;
  if (look.best) best = BestOf(look.file.objective, *look.best, false);
  std::vector<PrintedTrialRun> trials;
  for (const RunningTrial& trial : look.running) {
    PrintedTrialRun& one = trials.emplace_back(PrintedTrialRun{
        {trial.run, true, {}, trial.metrics}, trial.trial, std::uint64_t{trial.attempt} + 1, trial.point});
    one.of.run.name = printed.sweep.NameOf(trial);
  }
  v("best", best), v("failed", look.failed), v("name", look.file.name), v("over", look.over);
  v("running", look.running.size()), v("running_trials", trials), v("seconds", look.seconds);
  v("slots", As<NullIfNone>(look.file.slots)), v("started_at", look.started_at), v("state", look.state);
  v("sweep", look.file.sweep_id), v("sweep_dir", look.dir), v("trials", look.possible), v("waiting", look.waiting);
  v("waits", As<UnlessNone>(look.waits)), v("why", As<NullIfNone>(look.why)), v("word", printed.sweep.word);
}
struct PrintedProcesses {
  std::vector<QueuedRun> queued;
  std::vector<PrintedRun> runs;
  std::vector<PrintedActiveSweep> sweeps;
};
template <class V>
void Parts(V& v, const PrintedProcesses& printed) {
  v("format", 1), v("queued", printed.queued), v("runs", printed.runs), v("sweeps", printed.sweeps);
}

// A sweep in muster top: its running trials instead of processes.

// "0,1", or "node1:0 node2:0,1" where a trial runs on hosts of the sweep.
std::string DevicesText(const RunningTrial& trial) {
  std::string text;
  for (const auto& [host, devices] : trial.run.devices) {
    std::string list;
    for (const std::string& device : devices) list += (list.empty() ? "" : ",") + device;
    if (list.empty()) continue;
    text += (text.empty() ? "" : " ") + (trial.hosts.empty() ? list : host + ":" + list);
  }
  return Printable(text);
}

// Reads the newest reports of its trials into `curves`.
TopState TopStateOf(const ListedSweep& sweep, TrialCurves& curves) {
  const SweepSnapshot& look = sweep.look;
  TopState state;
  state.is_sweep = true;
  state.name = Printable(look.file.name);
  state.run = Printable(look.file.sweep_id);
  state.run_dir = look.dir;
  state.phase = look.waits.empty() ? look.state : "waiting for devices";
  state.why = Printable(look.why);
  state.live = look.live;
  state.seconds = look.seconds;
  state.seconds_left = look.seconds_left;
  state.best = look.BestText();
  if (const std::string point = look.BestPointWords(); !point.empty()) state.best += "  " + point;
  if (look.file.objective) state.objective = Printable(look.file.objective->metric);
  std::vector<std::string> run_dirs;
  for (const RunningTrial& trial : look.running) {
    TopProcess& row = state.processes.emplace_back();
    row.role = "trial";
    row.index =
        static_cast<std::uint32_t>(std::min<TrialNumber>(trial.trial, std::numeric_limits<std::uint32_t>::max()));
    row.name = Printable(sweep.NameOf(trial));
    for (const std::string& host : trial.hosts) row.host += (row.host.empty() ? "" : ",") + Printable(host);
    row.state = trial.run.waits.empty() ? trial.run.phase : "waiting";
    row.attempt = trial.attempt;
    const auto began = ParseUtc(trial.run.started_at);
    const std::uint64_t now = WallNowNs();
    if (began && now > *began) row.seconds = InSeconds(now - *began);
    row.last_line = trial.About();
    row.log_folder = kLogsEntry.In(trial.run.run_dir);
    const TrialCurve& curve = curves.Read(trial.run.run_dir);
    row.trial = TopTrial{curve.step, curve.value, curve.points, DevicesText(trial), trial.PointWords()};
    run_dirs.push_back(trial.run.run_dir);
  }
  curves.Keep(run_dirs);
  CountRoles(state);
  // Finished and future trials have no rows.
  if (state.roles.empty()) state.roles.emplace_back().name = "trial";
  state.roles.front().ended = look.over;
  state.roles.front().bad = look.failed;
  state.roles.front().waiting += look.waiting;
  return state;
}

}  // namespace

// muster ps: lists running runs and sweeps, with the running trials of sweeps.

namespace {

struct PsOptions {
  std::vector<std::string> folders;
  bool all = false;
  bool json = false;
};

struct Listed {
  RunList runs;
  SweepList sweeps;
  std::vector<QueuedRun> queued;
};

// Removes duplicates of a folder that was given twice, or found in two ways.
void DropTwins(std::vector<RunSummary>& runs) {
  std::set<std::filesystem::path> seen;
  std::erase_if(runs, [&](const RunSummary& run) {
    std::error_code error;
    return !seen.insert(std::filesystem::weakly_canonical(run.run_dir, error)).second;
  });
}

Result<Listed> List(const PsOptions& options) {
  std::vector<std::string> of_runs = options.folders;
  std::vector<std::string> of_sweeps = options.folders;
  if (options.all && options.folders.empty()) {
    auto runs = DefaultRunsFolder();
    if (!runs) return Fail(runs.error());
    auto sweeps = DefaultSweepsFolder();
    if (!sweeps) return Fail(sweeps.error());
    of_runs.push_back(*std::move(runs));
    of_sweeps.push_back(*std::move(sweeps));
    for (const std::string& folder : FoldersOfLiveHeads(OwnLiveHeadsFolder())) {
      std::error_code error;
      const bool is_sweep = std::filesystem::is_regular_file(kSweepEntry.In(folder), error);
      (is_sweep ? of_sweeps : of_runs).push_back(folder);
    }
  }
  auto runs = ListRuns(of_runs, !options.all, true);
  if (!runs) return Fail(runs.error());
  auto sweeps = FindSweeps(of_sweeps, !options.all);
  if (!sweeps) return Fail(sweeps.error());
  DropTwins(runs->runs);
  if (of_runs.empty()) {
    auto folder = DefaultRunsFolder();
    if (!folder) return Fail(folder.error());
    of_runs.push_back(*std::move(folder));
  }
  JobsOfRuns jobs = AskAboutJobs(MayBeQueued(of_runs));
  std::set<std::filesystem::path> suspended;
  for (const std::string& run_dir : jobs.suspended) {
    std::error_code error;
    suspended.insert(std::filesystem::weakly_canonical(run_dir, error));
  }
  for (RunSummary& run : runs->runs) {
    std::error_code error;
    if (suspended.contains(std::filesystem::weakly_canonical(run.run_dir, error))) run.phase = "suspended";
  }
  return Listed{*std::move(runs), *std::move(sweeps), std::move(jobs.queued)};
}

std::vector<std::string> Row(const std::string& name, const RunSummary& run, const std::string& metrics) {
  return {Printable(name),
          Printable(run.run),
          TimeText(run.started_at),
          run.outcome != "running" ? run.outcome
          : run.waits.empty()      ? run.phase
                                   : "waiting for devices",
          std::to_string(run.running),
          std::to_string(run.ended),
          std::to_string(run.restarts),
          metrics,
          Printable(run.run_dir)};
}

RoleReports MetricsOf(const RunSummary& run) {
  return run.outcome == "running" ? NewestReports(run.run_dir) : RoleReports();
}

void PrintTables(const Listed& listed) {
  PrintSweepTable(listed.sweeps.sweeps);
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "RUN", "STARTED", "PHASE", "RUNNING", "ENDED", "RESTARTS", "METRICS", "FOLDER"}};
  std::vector<std::pair<std::string, std::string>> waiting;
  for (const ListedSweep& sweep : listed.sweeps.sweeps) {
    for (const RunningTrial& trial : sweep.look.running) {
      rows.push_back(Row(sweep.NameOf(trial), trial.run, trial.About()));
    }
    if (!sweep.look.waits.empty()) waiting.emplace_back(sweep.word, sweep.look.waits);
  }
  for (const QueuedRun& run : listed.queued) {
    rows.push_back({Printable(run.name), Printable(run.run), TimeText(run.submitted_at), QueueText(run), "0", "0",
                    std::to_string(run.attempt - 1), "", Printable(run.run_dir)});
  }
  for (const RunSummary& run : listed.runs.runs) {
    rows.push_back(Row(run.name, run, MetricsText(MetricsOf(run))));
    if (run.outcome == "running" && !run.waits.empty()) waiting.emplace_back(run.run, run.waits);
  }
  if (!listed.sweeps.sweeps.empty()) std::puts("");
  PrintTable(rows);
  for (const auto& [name, holders] : waiting) {
    std::printf("%s waits for devices: %s\n", Printable(name).c_str(), Printable(holders).c_str());
  }
}

void PrintJson(const Listed& listed) {
  PrintedProcesses printed;
  printed.queued.assign(listed.queued.begin(), listed.queued.end());
  for (const RunSummary& run : listed.runs.runs) printed.runs.push_back({run, true, {}, MetricsOf(run)});
  for (const ListedSweep& sweep : listed.sweeps.sweeps) printed.sweeps.push_back({sweep});
  std::printf("%s\n", JsonOf<PartForms>(printed, 2).c_str());
}

int RunPs(const PsOptions& options) {
  auto listed = List(options);
  if (!listed) return Refuse(listed.error());
  options.json ? PrintJson(*listed) : PrintTables(*listed);
  Diagnostics unreadable = std::move(listed->runs.unreadable);
  unreadable.insert(unreadable.end(), listed->sweeps.unreadable.begin(), listed->sweeps.unreadable.end());
  return ExitListed(unreadable);
}

}  // namespace

std::function<int()> SetupPs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<PsOptions>();
  app.add_option("FOLDERS", options->folders,
                 "folders of runs or sweeps, or their directories; default: below $MUSTER_HOME or here");
  app.add_flag("--all,-a", options->all, "include those that ended and, without FOLDERS, all of yours on this machine");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunPs(*options); };
}

// muster top: shows a running run, process by process, or a sweep, trial by trial.

namespace {

struct TopOptions {
  std::string run;
  TopView view;
  bool once = false;
  bool json = false;
};

// The newest running one.
std::optional<FoundRun> NewestLive(const std::string& folder, const DirectoryKind& kind) {
  const std::vector<FoundRun> found = RunsBelow(folder, kind);
  const auto live = std::find_if(found.rbegin(), found.rend(), [](const FoundRun& one) { return IsRunLive(one.path); });
  return live == found.rend() ? std::nullopt : std::optional(*live);
}

// Without RUN the newest running run or sweep, not the newest of all.
Result<NamedRunOrSweep> FindRunning(const std::string& word) {
  if (!word.empty()) return FindRunOrSweep(word, DirectoryUse::kRead, Prefer::kLive);
  const Result<std::string> runs = DefaultRunsFolder();
  if (!runs) return Fail(runs.error());
  const Result<std::string> sweeps = DefaultSweepsFolder();
  if (!sweeps) return Fail(sweeps.error());
  const auto run = NewestLive(*runs, kRunDirectories);
  const auto sweep = NewestLive(*sweeps, kSweepDirectories);
  if (sweep && (!run || run->Age() < sweep->Age())) return NamedRunOrSweep{sweep->path, true};
  if (run) return NamedRunOrSweep{run->path, false};
  return Fail(Error("run", {}, fmt::format("no active run in {}", Quoted(*runs)),
                    "muster ls lists runs that have ended; name one to show its outcome"));
}

// Looks at a sweep again and again.
class SweepTop {
 public:
  explicit SweepTop(const std::string& folder) : folder_(folder) {}

  Result<TopState> Look() {
    auto look = ReadSweepSnapshot(folder_);
    if (!look) return Fail(std::move(look.error()));
    if (!curves_) {
      curves_.emplace(look->file.objective ? look->file.objective->metric : "", look->file.resource,
                      look->file.metrics);
    }
    std::string word = WordForSweep(folder_, look->file.name, look->file.sweep_id);
    return TopStateOf(ListedSweep{*std::move(look), std::move(word)}, *curves_);
  }

 private:
  const std::string& folder_;
  std::optional<TrialCurves> curves_;
};

int RunTop(TopOptions& options) {
  options.view.glyphs = OutputGlyphs();
  const Result<NamedRunOrSweep> work = FindRunning(options.run);
  if (!work) return Refuse(work.error());
  const std::string& folder = work->folder;
  SweepTop sweep(folder);
  Result<TopState> state = work->is_sweep ? sweep.Look() : ReadTopState(folder);
  if (!state) return Refuse(state.error());
  std::vector<std::string> roles;
  for (const TopRole& role : state->roles) roles.push_back(role.name);
  if (const std::string& role = options.view.role; !role.empty() && std::ranges::find(roles, role) == roles.end()) {
    return Refuse({Error("usage", {}, fmt::format("the run has no role {}", Quoted(role)), DidYouMean(role, roles))});
  }
  if (!options.json && !options.once && ::isatty(STDOUT_FILENO) == 1) {
    const SweepSnapshots looks = work->is_sweep ? [&sweep] { return sweep.Look(); } : SweepSnapshots();
    const Result<int> code = ShowTop(folder, *std::move(state), options.view, looks);
    return code ? *code : Refuse(code.error());
  }
  const TopState shown = OnlyShown(*std::move(state), options.view);
  std::fputs(PrintableLines(options.json ? TopJson(shown) : TopTable(shown, options.view.glyphs)).c_str(), stdout);
  return kExitOk;
}

}  // namespace

std::string PsSchema() {
  ListedSweep sweep;
  sweep.look.running.emplace_back();
  const PrintedRun run{{}, true, {}, std::map<std::string, Value::Map>()};
  return SchemaOf<PartForms>(PrintedProcesses{{}, {run}, {{sweep}}});
}

std::function<int()> SetupTop(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<TopOptions>();
  AddRunOrSweepArgument(app, options->run);
  app.get_option("RUN")->description(
      "a run or sweep: path, name, name~1 (the one before) or id prefix; or a trial: SWEEP:12; default: the newest "
      "active one");
  app.add_option("--role", options->view.role, "only processes of this role");
  app.add_flag("--outliers", options->view.outliers_only,
               "only outliers: processes that failed, were restarted or lag behind");
  app.add_option("--text", options->view.text, "only processes whose name or last line holds this")->type_name("TEXT");
  auto* json = app.add_flag("--json", options->json, "print one JSON object for programs");
  app.add_flag("--once", options->once, "print one table, as without a terminal")->excludes(json);
  return [options] { return RunTop(*options); };
}

}  // namespace muster
