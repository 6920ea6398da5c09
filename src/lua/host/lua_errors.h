// Errors of recipes as diagnostics with the user's lines: what Lua or a limit threw, and hints at what users of other
// languages write and Lua refuses (a missing comma, `!=`, `x += 1`, `# comment`, a Python list).
#pragma once

#include <string>
#include <string_view>

#include <lua.hpp>

#include "evaluation/exchange/limits.h"
#include "muster/diagnostic.h"

namespace muster {

// What users of other languages write and Lua refuses: a missing comma, `!=`, `x += 1`, `# comment`, a Python list.
// Knows the parser's messages and the text of the file; runs nothing.

// Replaces the parser's message by what is missing or to be written, if `text`, the file at the diagnostic's line,
// shows it; else leaves the message.
void TranslateSyntaxError(Diagnostic& diagnostic, std::string_view text);

// What to write instead, for a message of the running interpreter; empty if it is not known.
std::string HintOfRuntimeError(std::string_view message);

// Errors thrown by a recipe, and the limits that stop it, as diagnostics with the user's lines. Depends on the
// interpreter's stack and the limits of a state, not on requests and plans.

struct Host;

// The message handler of lua_pcall: converts the error to a diagnostic while the stack still has the failing frame. Its
// first upvalue is the Host, as for every host function.
int OnError(lua_State* lua);

// Reports limits that no message handler has reported (a recipe's pcall caught them). `last_place` may be null.
void ReportLimits(Host& host, const StateLimits& limits, const LastPlace* last_place, bool failed);

}  // namespace muster
