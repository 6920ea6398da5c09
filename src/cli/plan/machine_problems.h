// What muster check adds to a plan's own problems: programs and scripts that this machine would not find.
#pragma once

#include <string>

#include "muster/diagnostic.h"
#include "muster/plan.h"

namespace muster {

// A warning of kind "program" for each program that a run on this machine would not find or could not start because of
// a word that is too long, with its roles, and for each Python script that is not in the folder of its processes but
// may be beside the recipe (a path). Nothing if the plan has named or several hosts: doctor and runs check those.
Diagnostics MissingPrograms(const Plan& plan, const std::string& recipe);

}  // namespace muster
