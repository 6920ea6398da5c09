// Numbers in tables and summaries: six significant digits. JSON, CSV and plans have all digits (NumberText, ToText).
#pragma once

#include <string>

#include "muster/value.h"

namespace muster {

std::string ShownNumber(double number);

// A text as it is; others as ToText, with numbers as above.
std::string ShownValue(const Value& value);

}  // namespace muster
