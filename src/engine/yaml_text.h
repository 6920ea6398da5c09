// A value as YAML, as kubectl reads it.
#pragma once

#include <string>

#include "muster/value.h"

namespace muster {

// One document in block style with a line end, keys in their order. Texts are plain only where no reader of YAML 1.1 or
// 1.2 could take them for something else.
std::string YamlText(const Value& value);

}  // namespace muster
