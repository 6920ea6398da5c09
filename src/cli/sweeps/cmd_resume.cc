// Sweeps after their beginning. muster resume and muster retry: continue a sweep. muster steer: changes the limits of
// a running one.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/run_argument.h"
#include "cli/sweeps/run_sweep.h"
#include "cli/sweeps/submit_sweep.h"
#include "run/control/control_protocol.h"
#include "run/directory/run_directory.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {

// muster resume and muster retry: continue a sweep.

namespace {

void AddContinuationOptions(CLI::App& app, SweepContinuation& options) {
  app.add_option("SWEEP", options.sweep, "path, name, name~1 (the one before) or id prefix; default: the newest");
  app.add_flag("--accept", options.accept, "continue although the recipe or its inputs have changed");
  AddSteeringOptions(app, options.steering, options.tries);
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

Result<void> CheckIsOver(TrialNumber trial, const SweepProgress& progress) {
  if (progress.over().Has(trial)) return {};
  const bool is_one = trial < progress.trials();
  const std::string what = !is_one                            ? "there is none"
                           : progress.impossible().Has(trial) ? "its point is impossible (reason: muster show SWEEP)"
                                                              : "it is not over";
  return Fail(Error("usage", {}, fmt::format("--trial {}: {}", trial, what),
                    is_one ? "muster resume continues unfinished trials"
                           : fmt::format("the sweep has {} trials, from 0 on", progress.trials())));
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
  options.sweep.reopen = [&](const SweepProgress& progress) -> Result<std::vector<TrialRange>> {
    for (const TrialNumber trial : named) {
      if (auto over = CheckIsOver(trial, progress); !over) return Fail(over.error());
    }
    TrialSet chosen;
    progress.ends().ForEach([&](TrialNumber trial, TrialEnds::End end) {
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

// muster steer: changes the limits of a running sweep.

namespace {

struct SteerOptions {
  std::string sweep;
  SteeringRequest steering;
  std::vector<std::string> tries;
  bool json = false;
};

std::string WordsOf(const SteeringRequest& steering, const std::vector<std::string>& tries) {
  std::string words;
  for (const std::string& word : tries) words += " --try " + ShellQuoted(word);
  if (steering.slots) words += fmt::format(" --slots {}", *steering.slots);
  if (steering.add_trials > 0) words += fmt::format(" --add-trials {}", steering.add_trials);
  if (steering.device_hours) words += fmt::format(" --max-device-hours {}", *steering.device_hours);
  for (const std::string& value : steering.unskip) words += " --unskip " + ShellQuoted(value);
  return words;
}

Result<ControlAnswer> AskHead(const std::string& folder, const SteerOptions& options) {
  if (!IsRunLive(folder)) {
    return Fail(Error("control", {}, "the sweep is not running",
                      fmt::format("to continue it so: muster resume {}{}",
                                  options.sweep.empty() ? ShellQuoted(folder) : ShellQuoted(options.sweep),
                                  WordsOf(options.steering, options.tries))));
  }
  auto head = ControlConnection::Open(folder);
  if (!head) return Fail(std::move(head.error()));
  ControlRequest request;
  request.ask = ControlRequest::Ask::kSteer;
  request.slots = options.steering.slots;
  request.add_trials = options.steering.add_trials;
  request.device_hours = options.steering.device_hours;
  request.unskip = options.steering.unskip;
  if (!options.tries.empty()) {
    auto chosen = ChosenPointsFor(folder, options.tries);
    if (!chosen) return Fail(chosen.error());
    request.points = *std::move(chosen);
    if (request.points.empty() && options.steering.empty()) {
      return Fail(Error("usage", {}, "nothing to change: all chosen points were tried already",
                        "muster retry SWEEP --trial N repeats a trial"));
    }
  }
  if (const std::size_t bytes = ControlRequestLine(request).size(); bytes > kMaxControlRequest) {
    return Fail(Error(
        "usage", {},
        fmt::format("the points of --try take {} bytes, at most {} can be sent at once", bytes, kMaxControlRequest),
        "call muster steer several times, with fewer points each"));
  }
  return head->Ask(request);
}

// Members are in the order of their names.
struct PrintedLimits {
  std::string sweep;
  SweepLimits limits;
};
template <class V>
void Parts(V& v, const PrintedLimits& printed) {
  v("format", 1), v("max_device_hours", printed.limits.max_device_hours), v("max_trials", printed.limits.max_trials),
      v("slots", printed.limits.slots);
  v("sweep", printed.sweep), v("trials", printed.limits.trials);
}

int RunSteer(const SteerOptions& options) {
  if (options.steering.empty() && options.tries.empty()) {
    return Refuse({Error("usage", {}, "nothing to change",
                         "--slots 4, --add-trials 20, --max-device-hours 8, --try lr=0.1, --unskip lr=1 or several")},
                  options.json);
  }
  const auto folder = FindSweep(options.sweep, DirectoryUse::kControl);
  if (!folder) return Refuse(folder.error(), options.json);
  const auto answer = AskHead(*folder, options);
  if (!answer) return Refuse(answer.error(), options.json);
  const SweepLimits limits = answer->limits.value_or(SweepLimits{});
  if (options.json) {
    std::printf("%s\n", JsonOf<PartForms>(PrintedLimits{answer->status.run, limits}, 2).c_str());
    return kExitOk;
  }
  std::string text = fmt::format("{} {}: {} trials", Printable(answer->status.name), answer->status.run, limits.trials);
  if (limits.max_trials) text += fmt::format(", at most {} started", *limits.max_trials);
  if (limits.max_device_hours) text += fmt::format(", {:.6g} device hours", *limits.max_device_hours);
  if (limits.slots) text += fmt::format(", {} at a time", *limits.slots);
  std::printf("%s\n", PrintableLines(text).c_str());
  return kExitOk;
}

}  // namespace

std::string LimitsSchema() { return SchemaOf<PartForms>(PrintedLimits()); }

std::function<int()> SetupSteer(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<SteerOptions>();
  AddSweepArgument(app, options->sweep);
  AddSteeringOptions(app, options->steering, options->tries);
  app.add_flag("--json", options->json, "print the resulting limits as JSON for programs");
  return [options] { return RunSteer(*options); };
}

}  // namespace muster
