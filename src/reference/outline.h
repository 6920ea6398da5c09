// How the documents order the attributes of the context API: functions, groups, areas, each with a line of its own.
// Read from a record file (lua/muster/schema/outline.lua); which attribute belongs where is said by the attribute.
#pragma once

#include <string>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"

namespace muster {

struct Outline {
  struct Entry {
    std::string name;      // "system"
    std::string title;     // as the documents write it: "System"; empty: the name
    std::string function;  // of groups: whose attributes they hold
    std::string doc;       // one line
  };
  std::vector<Entry> functions;  // in the documents' order, as are the others
  std::vector<Entry> groups;
  std::vector<Entry> areas;  // of the programming guide of 1.0
};

// Kind "schema": the record is not well-formed.
Result<Outline> OutlineFromValue(const Value& record);

}  // namespace muster
