// The order of the context API's attributes in the documents: functions, groups, areas, each with a summary. Read from
// a record file (lua/muster/schema/outline.lua); each attribute's record names its place.
#pragma once

#include <string>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"

namespace muster {

struct Outline {
  struct Entry {
    std::string name;      // "system"
    std::string title;     // as in the documents: "System"; empty: the name
    std::string function;  // of groups: the function of their attributes
    std::string doc;       // one line
    // Of functions that MindSpore's documents deprecate as a whole: from that release on ("2.6"), and for what.
    std::string deprecated;
    std::string successor;
  };
  std::vector<Entry> functions;  // in the documents' order, like the others
  std::vector<Entry> groups;
  std::vector<Entry> areas;  // of the programming guide of 1.0
};

// "deprecated by MindSpore's documents from 2.6 on, for …"; empty for what they do not deprecate.
std::string DeprecationText(const Outline::Entry& function);

// Kind "schema": the record is malformed.
Result<Outline> OutlineFromValue(const Value& record);

}  // namespace muster
