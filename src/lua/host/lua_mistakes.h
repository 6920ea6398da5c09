// What users of other languages write and Lua refuses: a missing comma, `!=`, `x += 1`, `# comment`, a Python list.
// Knows the parser's messages and the text of the file; runs nothing.
#pragma once

#include <string>
#include <string_view>

#include "muster/diagnostic.h"

namespace muster {

// Replaces the parser's message by what is missing or to be written, if `text`, the file at the diagnostic's line,
// shows it; else leaves the message.
void TranslateSyntaxError(Diagnostic& diagnostic, std::string_view text);

// What to write instead, for a message of the running interpreter; empty if it is not known.
std::string HintOfRuntimeError(std::string_view message);

}  // namespace muster
