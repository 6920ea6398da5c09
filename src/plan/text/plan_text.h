// Plans as text: the canonical text, one fact per line in a fixed order, whose hash is the plan's id; its parsing, as
// far as a comparison of two plans requires it; and a summary of one screen for users.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/plan.h"
#include "plan/hosts/placement.h"

namespace muster {

// The canonical text of a plan: one fact per line, in a fixed order, so that diffs are readable and equal plans have
// equal text. `muster plan` prints it, golden files store it, and the plan's id is its hash.

struct Plan;

// Only what would be executed: no doc, params, derived values or sources. The plan must be folded (plan/plan/roles.h).
// Values that contain blanks, quotes, backslashes, control or non-ASCII characters are quoted (base/values/quoting.h);
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

// Parses the canonical text of a plan, as far as a comparison of two plans requires it.
//
// A plan that is to be run is read from its JSON: here policies, ports and secrets remain lines of text.

struct ParsedPlanText {
  // Hosts, roles, processes with place, command, folder, variables and context, files, parameters, derived values.
  // Values that the text spells differently from JSON (lists, maps) become strings with that spelling.
  Plan plan;
  std::string rest;  // the lines of PlanText that `plan` does not hold
};

// Reads the output of PlanText, with or without the lines of PlanNotesText. Processes may be missing. Nothing if the
// text is invalid.
std::optional<ParsedPlanText> ReadPlanText(std::string_view text);

// A plan on one screen: roles, hosts, derived values, and one process as an example. For users; programs that compare
// plans read the canonical text (plan_text.h). Pure.

struct PlanSummaryFacts {
  std::vector<std::vector<MeshAxis>> meshes;  // created by the recipe
  std::size_t warnings = 0;                   // number of printed warnings
  std::size_t width = 100;                    // columns; longer lines are truncated
};

// At most 24 lines for any plan. Safe for a terminal.
std::string PlanSummaryText(const Plan& plan, const PlanSummaryFacts& facts);

}  // namespace muster
