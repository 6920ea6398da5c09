// Escapes a text of several lines for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// Each line as Printable (base/values/shell_quote.h) has it. What was escaped before stays as it is, so a text that is
// put together from escaped and other parts can be printed in this way.
std::string PrintableLines(std::string_view text);

}  // namespace muster
