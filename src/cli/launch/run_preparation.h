// Prepares the request of muster run (run/session/run_request.h): the plan from a recipe, from a file or of an
// earlier run; for runs on other hosts checks of the hosts, the code to ship, and the record of hosts that failed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "cli/options/recipe_options.h"
#include "cli/options/start_settings.h"
#include "muster/result.h"
#include "run/console/console.h"
#include "run/session/run_request.h"

namespace muster {

// Where the plan of a run comes from: a recipe, a plan in a file, or an earlier run.

struct PlanSource {
  RecipeOptions recipe;
  std::string plan_file;  // --plan; empty: not given
  bool replay = false;
  std::string replayed;  // RUN; empty: the newest
};

// Fills the request with the recipe's plan and its origin, with the plan of the file, or with that of the earlier run,
// of which only the binding is new. Prints warnings. The hosts have the names of the command line or of the allocation,
// if there are any.
Result<void> FillPlan(const PlanSource& source, RunRequest& request);

// Gives the hosts of a plan the names of the command line or of the allocation, if there are any. Kind "hosts".
Result<void> NameHosts(const RecipeOptions& options, Plan& plan);

// Steps of muster run for runs on other hosts: checking the hosts, shipping the code, and recording hosts that
// failed.

struct ElsewhereOptions {
  bool no_preflight = false;
  std::string ship_code;   // a folder; empty: nothing is shipped
  std::string ship_limit;  // a size
};

void AddElsewhereOptions(CLI::App& app, ElsewhereOptions& options);

// For a run on this machine alone: an option without effect is an error of kind "usage".
Result<void> RefuseElsewhereOptions(const ElsewhereOptions& options);

// Reads the code to ship, reports on stderr which files are not shipped, and warns about hosts that failed recently.
// The rest of the request must be complete.
Result<void> ApplyElsewhereOptions(const ElsewhereOptions& options, RunRequest& request);

// The options of muster run, rehearse and replay; those of a submitted run are applied where it runs.

struct RehearseOptions {
  std::string within;  // a duration; empty: not given
  bool json = false;
};

class Drill;  // cli/launch/drill_run.h

struct RunOptions : StartOptions {
  PlanSource source;
  std::string run_dir;
  bool verbose = false;
  bool pass_exit_code = false;
  std::vector<std::string> tee;
  std::optional<std::string> pty;
  PlanChanges changes;
  std::string isolate;
  std::string wait;
  std::string as;  // --as
  std::string lease;
  ElsewhereOptions elsewhere;
  std::string without;
  std::vector<std::string> faults;
  std::optional<RehearseOptions> rehearse;  // muster rehearse
  std::shared_ptr<Drill> drill;             // muster drill; null: another command
  std::string submitted;                    // the directory of the run, in the job that it was submitted as
};

// What the call shows, on which kind of terminal.
ConsoleOptions ConsoleFor(const RunOptions& options);

}  // namespace muster
