// The module "muster.mindspore" as a definition file for editors (LuaLS annotations): its functions with parameters,
// and a class of fields for calls with one table of names (lua/meta/mindspore.lua).
#pragma once

#include <string>

#include "muster/mindspore/schema.h"

namespace muster {

std::string CallStub(const Schema& schema);

}  // namespace muster
