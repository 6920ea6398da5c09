// Evaluates a recipe under other conditions (locales, variables, another machine) and reports differences of the plan.
// Each check is one or a few evaluations; nothing on this machine is changed.
#pragma once

#include <string>
#include <vector>

#include "evaluator/evaluator.h"

namespace muster {

// The installed ones of a few locales that format numbers, sort or change case differently from "C".
std::vector<std::string> OtherLocales();

// Findings, as diagnostics of kind "leak", and the number of attempts.
struct Found {
  Diagnostics leaks;
  std::size_t evaluations = 0;
};

Found UnderOtherLocales(const EvaluationOptions& options, const Evaluation& as_it_is,
                        const std::vector<std::string>& locales);

// Changes each variable that is the source of a parameter, in turn.
Found UnderOtherVariables(const EvaluationOptions& options, const Evaluation& as_it_is);

// A machine with other memory, and one with other devices.
Found OnOtherMachines(const EvaluationOptions& options, const Evaluation& as_it_is);

// Names of this machine and its user in the plan, with the files that contain them if known.
Found OwnNamesIn(const EvaluationOptions& options, const Evaluation& as_it_is);

// The differences, as notes of a diagnostic.
std::vector<Note> NotesOfChanges(const Plan& a, const Plan& b);

}  // namespace muster
