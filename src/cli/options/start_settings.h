// What a call of muster sets for the runs that it starts, apart from their recipe: environment and folder, refusals,
// and the options --log-max, --wrap and --notify, which change a finished plan.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "evaluator/evaluator.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/session/run_request.h"

namespace muster {

// Hides a variable of muster's own environment: /proc/PID/environ shows it to every process of the user while muster
// runs, and muster's agent would inherit it.

// Overwrites the variable's value in place; copies made before are unaffected. Does nothing for a variable that is not
// set, and for an empty name.
void BlankVariable(const std::string& name);

// Settings common to all runs that this call of muster starts: their environment, and
// refusals.

// Problems that `check` only warns about, as errors, because a run would do harm: a secret in the recipe's text must
// not reach a process, a plan or a journal.
Diagnostics RefusedByRun(const Diagnostics& warnings);

// One warning, or none, about variables of the caller that the plan's processes do not inherit, because the framework's
// contract removes them.
Diagnostics WarnOfRemoved(const Evaluation& evaluation);

// Sets environment, current folder, and the folder of this program, where commands are looked up after PATH.
Result<void> SetCallerEnvironment(RunRequest& request);

// --log-max SIZE, for commands that make a plan.

// The size must live as long as the app.
void AddLogLimitOption(CLI::App& app, std::string& size);

// Sets the limit of every role's logs to the option's value, if it is given; "none" removes the recipe's limits.
Result<void> ApplyLogLimit(Plan& plan, const std::string& size);

// --wrap ROLE[:N]=WORDS, for commands that make a plan.

// `wraps` must live as long as the app.
void AddWrapOption(CLI::App& app, std::vector<std::string>& wraps);

// Applied in the order given, so the last one comes first in a command.
Result<void> ApplyWraps(Plan& plan, const std::vector<std::string>& wraps);

// --notify, for commands that start runs and sweeps (docs/notify.md).

// The texts must live as long as the app.
void AddNotifyOption(CLI::App& app, std::vector<std::string>& texts);

// What the option says, with absolute paths: relative ones are relative to the current folder.
struct NotifyChoice {
  bool none = false;  // no others than these
  std::vector<Notification> notifications;

  bool empty() const { return !none && notifications.empty(); }
};
// Kind "usage".
Result<NotifyChoice> ParseNotify(const std::vector<std::string>& texts);

// Words of a call that say the same, in whatever folder.
std::vector<std::string> NotifyWords(const NotifyChoice& choice);

// Adds the notifications of the site and of the option to those of the recipe. Those that an earlier start added to a
// stored plan are removed.
Result<void> ApplyNotify(Plan& plan, const NotifyChoice& choice);

// Blanks the variables that hold secrets of notifications, in the environment of this process.
void BlankNotifySecrets(const std::vector<Notification>& notifications);

}  // namespace muster
