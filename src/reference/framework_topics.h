// Documents the frameworks' contracts: a page for each, and docs/frameworks.md with all of them. From the records of
// lua/muster/framework_records.lua; no Lua.
#pragma once

#include <string>

#include "muster/value.h"
#include "reference/topic.h"

namespace muster {

// A topic for each contract, and "frameworks", which lists them. `records` is a list of maps; missing fields are
// omitted from the page.
Topics FrameworkTopics(const Value& records);

// docs/frameworks.md.
std::string FrameworkReference(const Value& records);

}  // namespace muster
