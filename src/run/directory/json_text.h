// Values as compact JSON text, as the files of a run directory hold them.
#pragma once

#include <string>

#include "muster/value.h"

namespace muster {

// One line without newline, keys sorted. Bytes that are not UTF-8 become U+FFFD, numbers that JSON lacks null.
std::string JsonText(const Value& value);

}  // namespace muster
