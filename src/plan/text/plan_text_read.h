// The canonical text of a plan read back, as far as two plans of which only the texts are known can be compared by it.
//
// A plan that is to be run is read from its JSON: policies, ports and secrets stay lines here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "muster/plan.h"

namespace muster {

struct ParsedPlanText {
  // Hosts, roles, processes with place, command, folder, variables and context, files, parameters, derived values.
  // Values that JSON spells otherwise than the text (lists, maps) are strings that spell them.
  Plan plan;
  std::string rest;  // the lines of PlanText that `plan` does not hold
};

// Of PlanText, with the lines of PlanNotesText or without them. Processes may be missing. Nothing if it is none.
std::optional<ParsedPlanText> ReadPlanText(std::string_view text);

}  // namespace muster
