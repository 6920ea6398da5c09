// The modules "muster.context" and "muster.mindspore" as definition files for editors (LuaLS annotations): one class
// per function with a field per attribute, documented, and the functions themselves.
#pragma once

#include <string>

#include "muster/mindspore/schema.h"
#include "reference/context_topics.h"

namespace muster {

// The module "muster.mindspore" as a definition file for editors (LuaLS annotations): its functions with parameters,
// and a class of fields for calls with one table of names (lua/meta/mindspore.lua).
std::string CallStub(const Schema& schema);

// The module "muster.context" as a definition file for editors (LuaLS annotations): one class per function with a field
// per attribute, documented, and the functions themselves (lua/meta/context.lua).
std::string ContextStub(const Schema& schema, const Outline& outline);

}  // namespace muster
