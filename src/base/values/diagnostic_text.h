// How a diagnostic looks to people.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "muster/diagnostic.h"

namespace muster {

// Gives the text of a line of a source file (without newline), if it can be had.
using SourceLine = std::function<std::optional<std::string>(const Place&)>;

// file:line: error: message / the source line / hint: … / note: … Ends with a newline. With `colour`, SGR
// sequences mark severity and hint. Messages may come from a recipe, so nothing in them but these sequences
// reaches a terminal as a control byte (Printable of shell_quote.h).
std::string DiagnosticText(const Diagnostic& diagnostic, const SourceLine& source_line, bool colour = false);

// The messages on one line, each with its hint in brackets: for where a problem is part of another sentence. As they
// are: whoever writes the line to a terminal makes it printable.
std::string Sentence(const Diagnostics& diagnostics);

}  // namespace muster
