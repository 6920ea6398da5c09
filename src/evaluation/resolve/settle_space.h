// A space as somebody wrote it, against the parameters of a recipe: names become whole names, values what the
// parameters' types make of them. Pure.
#pragma once

#include <string_view>

#include "evaluation/resolve/resolve.h"
#include "space/space.h"

namespace muster {

// Of an axis that is no choice, `values` are its ends and step as they were written, and nothing else is said yet.
// With `words` each axis is a choice of one text of the command line, which ReadAxisText reads. Reports names that no
// parameter has, secrets, values and ends that their parameter refuses.
void SettleSpace(Space& space, bool words, const Declared& declared, const ParameterNames& names,
                 Diagnostics& problems);

// What --grid NAME=TEXT says of a parameter: values between commas, each as name=text reads it; of numbers also a
// range: "1..8" (whole numbers of an int, else every number between), "0..1:0.25" (steps), "1e-5..1e-3:log". Lists and
// maps are JSON. Kind "parameter_value".
Result<Axis> ReadAxisText(const Parameter& parameter, std::string_view text);

// "hosts" and "devices_per_host" go by these names in points, unless the recipe has parameters that are called so.
std::string NameInPoints(const std::string& found, const ParameterNames& names);

}  // namespace muster
