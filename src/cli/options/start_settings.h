// What a call of muster sets for the runs that it starts, apart from their recipe: environment and folder, refusals,
// and the options that are common to the commands that start runs and sweeps.
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

// Changes of a finished plan, for commands that make one.
struct PlanChanges {
  std::vector<std::string> wraps;  // --wrap ROLE[:N]=WORDS, in the order given: the last one comes first in a command
  std::string log_max;             // --log-max SIZE: the limit of every role's logs; "none" removes the recipe's limits
};
// `changes` must live as long as the app.
void AddWrapOption(CLI::App& app, PlanChanges& changes);
void AddPlanChanges(CLI::App& app, PlanChanges& changes);
// Kind "usage".
Result<void> ApplyPlanChanges(Plan& plan, const PlanChanges& changes);

// --notify, for commands that start runs and sweeps (docs/notify.md).

// The texts must live as long as the app.
void AddNotifyOption(CLI::App& app, std::vector<std::string>& texts);

// What the option gives, with absolute paths: relative ones are relative to the current folder.
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

// What the user sets for a run or a sweep at its start, apart from what is run and where.
struct StartOptions {
  bool quiet = false;
  bool no_progress = false;
  bool detach = false;
  std::vector<std::string> tags;
  std::vector<std::string> notify;
  std::string agent;
  std::vector<std::string> words;  // arguments of the call, for submitting or resuming it
};

struct CheckedStart {
  std::vector<std::string> tags;
  NotifyChoice notify;
};
// Checks what can be checked before there is a plan. Kinds "usage" and "tag".
Result<CheckedStart> CheckStart(const StartOptions& options);

// Blanks the variables that hold secrets of notifications, in the environment of this process.
void BlankNotifySecrets(const std::vector<Notification>& notifications);

}  // namespace muster
