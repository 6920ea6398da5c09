// Other circumstances under which a recipe can be planned, and what is said of a plan that they change: locales,
// variables, another machine. Each is one evaluation or a few; nothing of this machine is changed.
#pragma once

#include <string>
#include <vector>

#include "evaluator/evaluator.h"

namespace muster {

// Of a few that write numbers, sort or change case in other ways than "C" does: those that this machine has.
std::vector<std::string> OtherLocales();

// What is found, as diagnostics of kind "leak", and how much was tried.
struct Found {
  Diagnostics leaks;
  std::size_t evaluations = 0;
};

Found UnderOtherLocales(const EvaluationOptions& options, const Evaluation& as_it_is,
                        const std::vector<std::string>& locales);

// Each variable that a parameter takes its value from is given another value, in turn.
Found UnderOtherVariables(const EvaluationOptions& options, const Evaluation& as_it_is);

// A machine with other memory, and one with other devices.
Found OnOtherMachines(const EvaluationOptions& options, const Evaluation& as_it_is);

// Names of this machine and its user in the plan, and the files that they come from if these can be told.
Found OwnNamesIn(const EvaluationOptions& options, const Evaluation& as_it_is);

// The differences, as notes of a diagnostic.
std::vector<Note> NotesOfChanges(const Plan& a, const Plan& b);

}  // namespace muster
