// muster resume and muster retry: a sweep is gone on with.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/shell_quote.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/run_sweep.h"

namespace muster {
namespace {

void AddContinuationOptions(CLI::App& app, SweepContinuation& options) {
  app.add_option("SWEEP", options.sweep,
                 "a path, a name, name~1 (the one before), a prefix of an id; left out: the newest");
  app.add_flag("--accept", options.accept,
               "the recipe or its inputs have changed: go on with what is there now, and keep all results");
  AddHostOptions(app, options.hosts);
  AddSweepStartOptions(app, options.start);
}

struct RetryOptions {
  SweepContinuation sweep;
  std::vector<std::string> classes;
  std::vector<std::uint64_t> trials;
};

int Retry(RetryOptions& options) {
  std::vector<TrialClass> classes;
  for (const std::string& name : options.classes) {
    const auto named = ParseTrialClass(name);
    if (!named) {
      const Diagnostics unknown = {Error("usage", {}, "--class " + Quoted(name) + ": there is no such class",
                                         "oom_device oom_host diverged timeout host_lost preempted user_error crash "
                                         "stalled, ok, stopped")};
      PrintDiagnostics(unknown);
      return ExitCodeFor(unknown);
    }
    classes.push_back(*named);
  }
  options.sweep.reopen = [&](const SweepAccount& account) {
    std::vector<TrialRange> chosen;
    account.ends().ForEach([&](TrialNumber trial, TrialEnds::End end) {
      const bool named = std::find(options.trials.begin(), options.trials.end(), trial) != options.trials.end();
      const bool of_class = std::find(classes.begin(), classes.end(), end.trial_class) != classes.end();
      const bool failed = options.trials.empty() && classes.empty() && IsFailure(end.trial_class);
      if (!named && !of_class && !failed) return;
      if (!chosen.empty() && chosen.back().second + 1 == trial) {
        chosen.back().second = trial;
      } else {
        chosen.emplace_back(trial, trial);
      }
    });
    return chosen;
  };
  return ContinueSweep(options.sweep);
}

}  // namespace

std::function<int()> SetupResume(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<SweepContinuation>();
  AddContinuationOptions(app, *options);
  return [options] { return ContinueSweep(*options); };
}

std::function<int()> SetupRetry(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<RetryOptions>();
  AddContinuationOptions(app, options->sweep);
  app.add_option("--class", options->classes, "trials that ended so, instead of all that failed: oom_device,crash")
      ->delimiter(',')
      ->type_name("CLASS,…");
  app.add_option("--trial", options->trials, "this trial, by its number, however it ended")
      ->delimiter(',')
      ->type_name("N,…");
  return [options] { return Retry(*options); };
}

}  // namespace muster
