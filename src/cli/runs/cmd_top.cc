// muster top: shows a running run, process by process, or a sweep, trial by trial.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/output_terminal.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_or_sweep.h"
#include "cli/runs/run_commands.h"
#include "cli/runs/sweep_top.h"
#include "run/directory/run_directory.h"
#include "sweep/record/sweep_directory.h"
#include "top/screen.h"
#include "top/top.h"
#include "top/top_snapshots.h"

namespace muster {
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

std::function<int()> SetupTop(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<TopOptions>();
  AddRunOrSweepArgument(app, options->run);
  app.get_option("RUN")->description(
      "a run or sweep: path, name, name~1 (the one before) or id prefix; or a trial: SWEEP:12; default: the newest "
      "active one");
  app.add_option("--role", options->view.role, "only processes of this role");
  app.add_flag("--outliers", options->view.outliers_only,
               "only outliers: processes that failed, were restarted or lag behind");
  app.add_flag("--odd", options->view.outliers_only, "former name of --outliers")->group("");
  app.add_option("--text", options->view.text, "only processes whose name or last line holds this")->type_name("TEXT");
  auto* json = app.add_flag("--json", options->json, "print one JSON object for programs");
  app.add_flag("--once", options->once, "print one table, as without a terminal")->excludes(json);
  return [options] { return RunTop(*options); };
}

}  // namespace muster
