// muster resume and muster retry: continue a sweep.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "cli/command/command.h"
#include "cli/command/print_diagnostics.h"
#include "cli/sweeps/run_sweep.h"
#include "cli/sweeps/submit_sweep.h"
#include "cli/sweeps/sweep_commands.h"

namespace muster {
namespace {

void AddContinuationOptions(CLI::App& app, SweepContinuation& options) {
  app.add_option("SWEEP", options.sweep, "path, name, name~1 (the one before) or id prefix; default: the newest");
  app.add_flag("--accept", options.accept, "continue although the recipe or its inputs have changed");
  AddSteeringOptions(app, options.steering);
  AddHostOptions(app, options.hosts);
  AddSweepStartOptions(app, options.start);
  app.add_flag("--detach,-d", options.start.detach,
               "return once a trial has begun, or a job is submitted; the sweep continues in the background");
}

int Resume(const SweepContinuation& options) {
  if (auto outside = CheckEachTrialIsOutside(options.hosts.engine); !outside) return Refuse(outside.error());
  const auto asks = AsksForAllocation(options.hosts.engine);
  if (!asks) return Refuse(asks.error());
  if (*asks) return SubmitContinuation(options);
  return ContinueSweep(options);
}

struct RetryOptions {
  SweepContinuation sweep;
  std::vector<std::string> classes;
  std::vector<std::uint64_t> trials;
};

Result<void> CheckIsOver(TrialNumber trial, const SweepProgress& account) {
  if (account.over().Has(trial)) return {};
  const bool is_one = trial < account.trials();
  const std::string what = !is_one                           ? "there is none"
                           : account.impossible().Has(trial) ? "its point is impossible (reason: muster show SWEEP)"
                                                             : "it is not over";
  return Fail(Error("usage", {}, fmt::format("--trial {}: {}", trial, what),
                    is_one ? "muster resume continues unfinished trials"
                           : fmt::format("the sweep has {} trials, from 0 on", account.trials())));
}

int Retry(RetryOptions& options) {
  std::vector<TrialClass> classes;
  for (const std::string& name : options.classes) {
    const auto named = ParseTrialClass(name);
    if (!named) {
      const Diagnostics unknown = {Error("usage", {}, "--class " + Quoted(name) + ": there is no such class",
                                         DidYouMean(name, AllTrialClassNames(false)))};
      return Refuse(unknown);
    }
    classes.push_back(*named);
  }
  const std::set<TrialNumber> named(options.trials.begin(), options.trials.end());
  options.sweep.reopen = [&](const SweepProgress& account) -> Result<std::vector<TrialRange>> {
    for (const TrialNumber trial : named) {
      if (auto over = CheckIsOver(trial, account); !over) return Fail(over.error());
    }
    TrialSet chosen;
    account.ends().ForEach([&](TrialNumber trial, TrialEnds::End end) {
      const bool of_class = std::find(classes.begin(), classes.end(), end.trial_class) != classes.end();
      const bool failed = named.empty() && classes.empty() && IsFailure(end.trial_class);
      if (named.contains(trial) || of_class || failed) chosen.Add(trial);
    });
    return chosen.ranges();
  };
  return ContinueSweep(options.sweep);
}

}  // namespace

std::function<int()> SetupResume(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<SweepContinuation>();
  AddContinuationOptions(app, *options);
  AddEngineSettings(app, options->hosts.engine);
  return [options] { return Resume(*options); };
}

std::function<int()> SetupRetry(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<RetryOptions>();
  AddContinuationOptions(app, options->sweep);
  app.add_option("--class", options->classes, "trials of these classes, instead of all failed ones: oom_device,crash")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("CLASS,…");
  app.add_option("--trial", options->trials, "number of a trial to repeat, whatever its outcome")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,…");
  return [options] { return Retry(*options); };
}

}  // namespace muster
