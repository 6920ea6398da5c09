// Replacements in a text, applied together.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct TextEdit {
  std::size_t begin = 0;  // offsets in the text before all edits
  std::size_t end = 0;
  std::string text;
};

// The text after the edits, which must not overlap. Insertions at one place keep their order, and come before a
// replacement that begins there.
std::string Edited(std::string_view text, std::vector<TextEdit> edits);

}  // namespace muster
