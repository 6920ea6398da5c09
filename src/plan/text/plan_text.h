// The canonical text of a plan: one fact per line, in a fixed order, so that diffs are readable and equal plans have
// equal text. `muster plan` prints it, golden files store it, and the plan's id is its hash.
#pragma once

#include <string>

namespace muster {

struct Plan;

// Only what would be executed: no doc, params, derived values or sources. The plan must be folded (fold.h). Values that
// contain blanks, quotes, backslashes, control or non-ASCII characters are quoted (base/values/shell_quote.h);
// placeholders appear as spelled.
std::string PlanText(const Plan& plan);

// Doc, parameters and derived values, as lines of the same form.
std::string PlanNotesText(const Plan& plan);

// Whether processes of the plan get a checkpoint to resume from, by either placeholder.
bool UsesCheckpoint(const Plan& plan);

// SHA-256 of PlanText in hex; users type its first 12 characters.
std::string PlanId(const Plan& plan);
std::string PlanIdOfText(std::string_view plan_text);
std::string ShortPlanId(const Plan& plan);
std::string ShortPlanId(std::string_view plan_id);

}  // namespace muster
