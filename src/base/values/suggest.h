// Suggests the nearest known word for a misspelt one ("did you mean").
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The candidate that differs from `word` only in case and in '-' for '_'; else the one nearest to it by
// Damerau-Levenshtein distance (optimal string alignment), if the distance is at most a third of the word's length, at
// least 1 and at most 3. Ties: the first.
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

// "did you mean \"workers\"?", or, if none is near, "known: a, b, c" (at most 12 names, then "…").
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates);

}  // namespace muster
