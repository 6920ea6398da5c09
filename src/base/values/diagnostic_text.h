// Formats diagnostics for people.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "muster/diagnostic.h"

namespace muster {

// Returns a line of a source file (without newline), if it is available.
using SourceLine = std::function<std::optional<std::string>(const Place&)>;

// file:line: error: message / the source line / hint: … / note: … Ends with a newline. With `colour`, SGR sequences
// mark severity and hint. Messages may come from a recipe, so all other control bytes are escaped (Printable of
// shell_quote.h).
std::string DiagnosticText(const Diagnostic& diagnostic, const SourceLine& source_line, bool colour = false);

// The messages on one line, each with its hint in brackets, for use within another sentence. Not escaped: the caller
// makes the line printable.
std::string Sentence(const Diagnostics& diagnostics);

}  // namespace muster
