// "Did you mean": the nearest known word, or nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The candidate nearest to `word` by Damerau-Levenshtein distance (optimal string alignment), if near
// enough to be a slip: at most a third of the word's length, at least 1, at most 3. Ties: the first.
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

// "did you mean \"workers\"?" or, without a near one, "known: a, b, c" (at most 12 names, then "…").
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates);

}  // namespace muster
