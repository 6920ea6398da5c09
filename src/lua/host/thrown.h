// Errors thrown by a recipe, and the limits that stop it, as diagnostics with the user's lines. Depends on the
// interpreter's stack and the limits of a state, not on requests and plans.
#pragma once

#include <lua.hpp>

#include "evaluation/exchange/last_place.h"
#include "evaluation/exchange/limits.h"

namespace muster {

struct Host;

// The message handler of lua_pcall: converts the error to a diagnostic while the stack still has the failing frame. Its
// first upvalue is the Host, as for every host function.
int OnError(lua_State* lua);

// Reports limits that no message handler has reported (a recipe's pcall caught them). `last_place` may be null.
void ReportLimits(Host& host, const StateLimits& limits, const LastPlace* last_place, bool failed);

}  // namespace muster
