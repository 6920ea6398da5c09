// Plain (unquoted) scalars of YAML: what they mean, and which texts must not be one. The meaning is that of YAML 1.2's
// core schema; YAML 1.1, which many programs still read, differs in a few spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

// null, bool, int, float or the text itself. Fails, with half a sentence, on numbers that no double holds exactly
// (integers beyond 2^53) or at all (.inf, .nan, 1e999).
tl::expected<Value, std::string> YamlScalarValue(std::string_view plain);

// What a YAML 1.1 reader takes a plain scalar for where the core schema has something else: "no" -> "false",
// "010" -> "8", "1_000" -> "1000", "1:30" -> "90". Nothing where both agree.
std::optional<std::string> YamlOldMeaning(std::string_view plain);

// Whether a text can be written without quotes, so that readers of either version find the same text.
bool IsPlainYamlText(std::string_view text);

// A number that is no int, so that readers of either version find the same number: 1e-05 is written 1.0e-05, which
// YAML 1.1 would otherwise take for a text.
std::string YamlNumberText(double number);

}  // namespace muster
