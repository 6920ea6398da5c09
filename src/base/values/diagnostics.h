// Diagnostics (muster/diagnostic.h): making them, formatting them for people, and their hints: the nearest known word
// for a misspelt one, and what to write instead of a pattern that RE2 refuses.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"

namespace muster {

// Suggests the nearest known word for a misspelt one ("did you mean").

// The candidate that differs from `word` only in case and in '-' for '_'; else the one nearest to it by
// Damerau-Levenshtein distance (optimal string alignment), if the distance is at most a third of the word's length, at
// least 1 and at most 3. Ties: the first.
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

// "did you mean \"workers\"?", or, if none is near, "known: a, b, c" (at most 12 names, then "…").
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates);

// What to write instead of a regular expression that RE2 refuses.

// For RE2's error, "invalid perl operator: (?!".
std::string PatternHint(std::string_view error);

// Formats diagnostics for people.

// Returns a line of a source file (without newline), if it is available.
using SourceLine = std::function<std::optional<std::string>(const Place&)>;

// file:line: error: message / the source line / hint: … / note: … Ends with a newline. With `colour`, SGR sequences
// mark severity and hint. Messages may come from a recipe, so all other control bytes are escaped (Printable of
// base/values/quoting.h).
std::string DiagnosticText(const Diagnostic& diagnostic, const SourceLine& source_line, bool colour = false);

// The messages on one line, each with its hint in brackets, for use within another sentence. Not escaped: the caller
// makes the line printable.
std::string Sentence(const Diagnostics& diagnostics);

}  // namespace muster
