// muster top: a run while it goes on, process by process.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/shell_quote.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/run_argument.h"
#include "run/run_directory.h"
#include "top/look.h"
#include "top/screen.h"
#include "top/top.h"

namespace muster {
namespace {

struct Options {
  std::string run;
  TopView view;
  bool once = false;
  bool json = false;
};

// Without RUN the newest that goes on, not the newest of all.
Result<std::string> FindRunning(const std::string& run) {
  if (!run.empty()) return FindRun(run);
  const Result<std::string> folder = DefaultRunsFolder();
  if (!folder) return folder;
  const std::vector<FoundRun> runs = RunsBelow(*folder);
  for (auto found = runs.rbegin(); found != runs.rend(); ++found) {
    if (IsRunLive(found->path)) return found->path;
  }
  return Fail(Error("run", {}, fmt::format("no run is going on in {}", Quoted(*folder)),
                    "muster ls shows those that are over; name one, and its end is shown"));
}

int Refuse(const Diagnostics& problems) {
  PrintDiagnostics(problems);
  return ExitCodeFor(problems);
}

int Run(const Options& options) {
  const Result<std::string> run_dir = FindRunning(options.run);
  if (!run_dir) return Refuse(run_dir.error());
  Result<TopState> state = LookOnce(*run_dir);
  if (!state) return Refuse(state.error());
  std::vector<std::string> roles;
  for (const TopRole& role : state->roles) roles.push_back(role.name);
  if (const std::string& role = options.view.role; !role.empty() && std::ranges::find(roles, role) == roles.end()) {
    return Refuse({Error("usage", {}, fmt::format("the run has no role {}", Quoted(role)), DidYouMean(role, roles))});
  }
  if (!options.json && !options.once && ::isatty(STDOUT_FILENO) == 1) {
    const Result<int> code = ShowTop(*run_dir, *std::move(state), options.view);
    return code ? *code : Refuse(code.error());
  }
  const TopState shown = OnlyShown(*std::move(state), options.view);
  std::fputs((options.json ? TopJson(shown) : TopTable(shown)).c_str(), stdout);
  return kExitOk;
}

}  // namespace

std::function<int()> SetupTop(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<Options>();
  app.add_option("RUN", options->run,
                 "a path, a name, name~1 (the one before), a prefix of an id; left out: the newest that goes on");
  app.add_option("--role", options->view.role, "only processes of this role");
  app.add_flag("--odd", options->view.odd_only, "only processes that failed, were started again or lag behind");
  app.add_option("--text", options->view.text, "only processes whose name or last line holds this")->type_name("TEXT");
  auto* json = app.add_flag("--json", options->json, "print one JSON object for programs");
  app.add_flag("--once", options->once, "print one table, as it is done where there is no terminal")->excludes(json);
  return [options] { return Run(*options); };
}

}  // namespace muster
