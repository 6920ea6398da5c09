// The allowed values and the default of an attribute in words, for messages and for the reference, so that both
// agree.
#pragma once

#include <string>
#include <string_view>

#include "muster/mindspore/schema.h"

namespace muster {

// "a whole number", "true or false or a whole number": every kind once. `in_file`: the value is in a JSON file, whose
// tables are objects.
std::string AllowedText(const Attribute& attribute, bool in_file = false);

// "\"O0\", \"O1\"", "0 (GRAPH_MODE), 1 (PYNATIVE_MODE)"; empty without choices.
std::string ChoicesText(const Attribute& attribute);

// "1 to 4096", "at least 1", "above 0 and at most 31"; ends with `unit`, and is only that without limits.
std::string RangeText(const Attribute& attribute, std::string_view unit = "");

// The value with its name in the documents: "0 (GRAPH_MODE)"; else the value alone.
std::string NamedValueText(const Attribute& attribute, const Value& value);

// The default on that device target (empty: unknown), in words; empty if there is no default that can be named.
std::string DefaultText(const Attribute& attribute, std::string_view device = "");

}  // namespace muster
