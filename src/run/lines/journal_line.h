// Lines of journals, whatever is in them: each ends with a checksum, so that a cut, a torn write or a flipped bit is
// seen. Knows nothing of entries.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace muster {

// Ends the line that `body` has been given so far (an object of JSON without its closing brace): its CRC-32C
// (RFC 3720, B.4) as the last member, the brace, a newline. What stands in `line` before `begin` is left alone.
void SealLine(std::string& line, std::size_t begin = 0);

// The body of a line (without its newline), or why it is none.
tl::expected<std::string_view, std::string> OpenLine(std::string_view line);

}  // namespace muster
