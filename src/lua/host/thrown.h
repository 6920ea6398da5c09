// What a recipe throws, and what stops it, as diagnostics with the user's lines. Knows the interpreter's stack and the
// limits of a state; nothing of requests and plans.
#pragma once

#include <lua.hpp>

#include "evaluation/exchange/last_place.h"
#include "evaluation/exchange/limits.h"

namespace muster {

struct Host;

// The handler of lua_pcall that turns whatever was thrown into a diagnostic while the stack still tells where. Its
// first upvalue is the Host, as for every function of it.
int OnError(lua_State* lua);

// What is wrong that no message handler told, and that a recipe's pcall may have caught. `last_place` may be null.
void ReportLimits(Host& host, const StateLimits& limits, const LastPlace* last_place, bool failed);

}  // namespace muster
