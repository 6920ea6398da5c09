// YAML to and from values. Reading follows YAML 1.2's core schema and refuses anything that cannot be a value of a
// recipe; writing is deterministic, and YAML 1.1 and 1.2 readers parse it alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

// Plain (unquoted) scalars of YAML: their meaning, and which texts must be quoted. The meaning is that of YAML 1.2's
// core schema; YAML 1.1, which many programs still use, differs for a few spellings.

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

// Converts YAML to and from values. Reading follows YAML 1.2's core schema and refuses anything that cannot be a value
// of a recipe; writing is deterministic, and YAML 1.1 and 1.2 readers parse it alike.

struct YamlText {
  // A plain scalar that YAML 1.1 readers interpret differently.
  struct Trap {
    std::uint32_t line = 1;
    std::string plain;        // no
    std::string meaning;      // "no"
    std::string old_meaning;  // false
    std::string instead;      // what to write; empty: a word, a plain number or a text in quotes
  };
  Value value;
  std::vector<Trap> traps;
};
struct YamlProblem {
  std::string message;  // one line
  std::uint32_t line = 1;
};

// One document, or nothing at all (null). Anchors, aliases and merge keys (<<) are expanded. Refused: a second
// document, keys that are duplicates or no scalars, application tags, nesting deeper than 30, more than 100,000 values
// after expansion of aliases, or 16 MiB of text in them.
tl::expected<YamlText, YamlProblem> ValueFromYamlText(std::string_view text);

// Block style, keys in order. Texts are quoted if any reader could misinterpret them. A text that consists of a single
// placeholder for a port number is not quoted, since it becomes a number.
std::string YamlTextOf(const Value& value);

}  // namespace muster
