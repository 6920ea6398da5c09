// Parses the canonical text of a plan, as far as a comparison of two plans requires it.
//
// A plan that is to be run is read from its JSON: here policies, ports and secrets remain lines of text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "muster/plan.h"

namespace muster {

struct ParsedPlanText {
  // Hosts, roles, processes with place, command, folder, variables and context, files, parameters, derived values.
  // Values that the text spells differently from JSON (lists, maps) become strings with that spelling.
  Plan plan;
  std::string rest;  // the lines of PlanText that `plan` does not hold
};

// Reads the output of PlanText, with or without the lines of PlanNotesText. Processes may be missing. Nothing if the
// text is invalid.
std::optional<ParsedPlanText> ReadPlanText(std::string_view text);

}  // namespace muster
