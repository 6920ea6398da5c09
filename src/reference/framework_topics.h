// The contracts of frameworks, told: a page for each, and all of them as docs/frameworks.md. Knows the records that
// lua/muster/framework_records.lua makes; no Lua.
#pragma once

#include <string>

#include "muster/value.h"
#include "reference/topic.h"

namespace muster {

// A topic for each contract, and "frameworks", which lists them. `records` is a list of maps; what a record lacks is
// left out of its page.
Topics FrameworkTopics(const Value& records);

// docs/frameworks.md.
std::string FrameworkReference(const Value& records);

}  // namespace muster
