// Lines and words of what a vendor's tool prints. Bounded, since the text is not trusted.
#pragma once

#include <string_view>
#include <vector>

namespace muster {

// At most 65,536 lines, without their ends.
std::vector<std::string_view> ToolLines(std::string_view output);

// The parts between separators without blanks around them; of a blank as the separator without empty parts.
std::vector<std::string_view> ToolWords(std::string_view line, char separator);

}  // namespace muster
