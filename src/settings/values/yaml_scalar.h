// Plain (unquoted) scalars of YAML: their meaning, and which texts must be quoted. The meaning is that of YAML 1.2's
// core schema; YAML 1.1, which many programs still use, differs for a few spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

// null, bool, int, float or the text itself. Fails, with a phrase, for numbers that no double represents exactly
// (integers beyond 2^53) or at all (.inf, .nan, 1e999).
tl::expected<Value, std::string> YamlScalarValue(std::string_view plain);

// The meaning of a plain scalar in YAML 1.1, as PyYAML's resolver has it, if the core schema differs: "no" -> "false",
// "010" -> "8", "1_000" -> "1000", "1:30" -> "90", "1e-3" -> "the text \"1e-3\"", "2024-01-31" -> "a date". Nothing if
// both agree. `as_key`: of a key of a map, where "=" and "<<" mean the same to both.
std::optional<std::string> YamlOldMeaning(std::string_view plain, bool as_key = false);

// Whether readers of either version parse the unquoted text as the same text.
bool IsPlainYamlText(std::string_view text);

// A number that is no int, in a form that readers of either version parse as the same number: 1e-05 is written 1.0e-05,
// which YAML 1.1 would otherwise treat as text.
std::string YamlNumberText(double number);

}  // namespace muster
