// Resolves a space that the user wrote against the parameters of a recipe: full names, and values in the parameters'
// types. Pure.
#pragma once

#include <string_view>

#include "evaluation/resolve/resolve.h"
#include "space/space.h"

namespace muster {

// For axes other than choices, `values` are the bounds and step as written. With `words` each axis is a choice of one
// text from the command line, which ReadAxisText parses. Reports unknown names, secrets, and values and bounds that
// their parameter refuses.
void SettleSpace(Space& space, bool words, const Declared& declared, const ParameterNames& names,
                 Diagnostics& problems);

// Parses TEXT of --grid NAME=TEXT: values separated by commas, each parsed like name=text; for numbers also a range:
// "1..8" (whole numbers of an int, else every number between), "0..1:0.25" (steps), "1e-5..1e-3:log". Lists and maps
// are JSON. Kind "parameter_value".
Result<Axis> ReadAxisText(const Parameter& parameter, std::string_view text);

// The name in points of "hosts" and "devices_per_host", unless the recipe has parameters of that name.
std::string NameInPoints(const std::string& found, const ParameterNames& names);

}  // namespace muster
