// Values as YAML. Reading follows YAML 1.2's core schema and refuses what cannot be a value of a recipe; writing is
// deterministic and reads back alike by YAML 1.1 and 1.2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

struct YamlText {
  // A plain scalar that older readers take for something else.
  struct Trap {
    std::uint32_t line = 1;
    std::string plain;        // no
    std::string meaning;      // "no"
    std::string old_meaning;  // false
  };
  Value value;
  std::vector<Trap> traps;
};
struct YamlProblem {
  std::string message;  // one line
  std::uint32_t line = 1;
};

// One document, or nothing at all (null). Anchors, aliases and merge keys (<<) are followed. Refused: a second
// document, keys that appear twice or are no scalars, tags of an application, nesting deeper than 30, more than 100,000
// values once all aliases are followed, or 16 MiB of text in them.
tl::expected<YamlText, YamlProblem> ValueFromYamlText(std::string_view text);

// Block style, keys in order. Texts are quoted where any reader could take them for something else. A text that is one
// hole of a plan for a port number and nothing else stands plain, as the number that it will be.
std::string YamlTextOf(const Value& value);

}  // namespace muster
