// What a user meant by a text that is no value of a parameter's type: "1,000", "50%", "64gb", "True", "2 hours".
#pragma once

#include <string>
#include <string_view>

#include "settings/parameters/parameter.h"

namespace muster {

// The text to write instead; empty if none is known.
std::string MeantValue(ParameterType type, std::string_view text);

}  // namespace muster
