// Describes an attribute: every field of its record in words, by label. A test checks that every field that a record
// may have is covered.
#pragma once

#include <string>
#include <vector>

#include "reference/attribute_history.h"
#include "reference/page.h"

namespace muster {

// The facts of one record, by label, in order of presentation; no empty ones.
std::vector<std::pair<std::string, std::string>> FactsOf(const Attribute& attribute);

// Facts for all releases of the history: a fact that changes has a line for each range of releases. `all` are the
// releases covered.
FactList FactsOf(const AttributeHistory& history, const std::vector<Release>& all);

// For a column of a table: "int", "\"O0\" or \"O1\"", "size", …
std::string ShortType(const Attribute& attribute);
// For a column of a table; empty if there is no default that can be named.
std::string ShortDefault(const Attribute& attribute);

}  // namespace muster
