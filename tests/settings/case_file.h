// Tables of cases in tests/settings/cases: read line by line, with Lua for the values.
#pragma once

#include <string>
#include <vector>

#include "muster/mindspore/context.h"

namespace muster {

// One line of a table, for one release: "1.6.2..2.3.1+GPU set_context device_id 3 => ok" makes one per release.
struct Case {
  std::string where;  // "values_context.txt:12 (1.9.0)", for messages
  Release release;
  std::vector<std::string> setup;  // what stands behind the release: "graph", "GPU", …
  std::string api;
  std::string attribute;
  std::string value;    // Lua; may be empty
  std::string outcome;  // without remarks ("  # …")
};

// The cases of tests/settings/cases/FILE; a line that can not be read fails the test.
std::vector<Case> ReadCases(const std::string& file);

// The lines of that file without comments and blank lines.
std::vector<std::string> ReadLines(const std::string& file);

// The described releases of a range: "1.6.2..2.3.1", or of one: "1.6.2".
std::vector<Release> Between(const std::string& range);

// The value of a Lua expression; `null` is the explicit null. The names of the context module are known.
Value LuaValue(const std::string& expression);

// A context of the case's release with its setup applied.
Context Prepared(const Case& test);

}  // namespace muster
