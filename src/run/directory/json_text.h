// Writes values as compact JSON text, for the files of a run directory.
#pragma once

#include <string>

#include "muster/value.h"

namespace muster {

// One line without newline, with sorted keys. Bytes that are not UTF-8 become U+FFFD; numbers that JSON cannot express
// become null.
std::string JsonText(const Value& value);

}  // namespace muster
