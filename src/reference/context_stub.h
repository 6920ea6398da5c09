// The module "muster.context" as a definition file for editors (LuaLS annotations): one class per function with a field
// per attribute, documented, and the functions themselves (lua/meta/context.lua).
#pragma once

#include <string>

#include "muster/mindspore/schema.h"
#include "reference/outline.h"

namespace muster {

std::string ContextStub(const Schema& schema, const Outline& outline);

}  // namespace muster
