// Converts YAML to and from values. Reading follows YAML 1.2's core schema and refuses anything that cannot be a value
// of a recipe; writing is deterministic, and YAML 1.1 and 1.2 readers parse it alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

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
