// The canonical text of a plan: one fact per line, in a fixed order, so that a diff reads like a sentence and
// equal plans have equal text. It is what `muster plan` prints, what goldens hold and what the id hashes.
#pragma once

#include <string>

namespace muster {

struct Plan;

// What would be executed, and nothing else: no doc, params, derived values or sources. The plan must be folded
// (fold.h). Values that contain blanks, quotes, backslashes, control or non-ASCII characters are quoted
// (base/values/shell_quote.h); holes appear as spelled.
std::string PlanText(const Plan& plan);

// Doc, parameters and derived values, as lines of the same form.
std::string PlanNotesText(const Plan& plan);

// Whether processes of the plan are given a checkpoint to go on from, by either placeholder.
bool UsesCheckpoint(const Plan& plan);

// SHA-256 of PlanText in hex; its first 12 characters are what people type.
std::string PlanId(const Plan& plan);
std::string ShortPlanId(const Plan& plan);
std::string ShortPlanId(std::string_view plan_id);

}  // namespace muster
