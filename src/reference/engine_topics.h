// Topics of the engines: the options that a recipe, a site file or the command line gives for them.
#pragma once

#include <string>
#include <vector>

#include "muster/value.h"
#include "reference/topic.h"

namespace muster {

// `pages`: those of lua/muster/engines/.
Topics EngineTopics(const std::vector<Value>& pages);

// lua/meta/engines.lua: the same options as classes for editors.
std::string EngineStub(const std::vector<Value>& pages);

}  // namespace muster
