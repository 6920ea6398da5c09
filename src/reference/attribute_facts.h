// What is told about an attribute: every field of its record in words, by label. A field that a record may hold and no
// fact tells is a mistake (a test compares).
#pragma once

#include <string>
#include <vector>

#include "reference/attribute_history.h"
#include "reference/page.h"

namespace muster {

// The facts of one record, by label, in the order in which they are told; no empty ones.
std::vector<std::pair<std::string, std::string>> FactsOf(const Attribute& attribute);

// Those of all releases of the history: a fact that changes has a line for each span of releases. `all` are the
// releases that are talked about.
FactList FactsOf(const AttributeHistory& history, const std::vector<Release>& all);

// For a column of a table: "int", "\"O0\" or \"O1\"", "size", …
std::string ShortType(const Attribute& attribute);
// For a column of a table; empty if there is none that could be told.
std::string ShortDefault(const Attribute& attribute);

}  // namespace muster
