// Adds checksums to lines of journals and verifies them, so that cut, torn or corrupted lines are detected. Independent
// of entries.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace muster {

// Completes the line in `line`, which starts at `begin` and is a JSON object without its closing brace: appends its
// CRC-32C (RFC 3720, B.4) as the last member, the brace and a newline. Text before `begin` is unchanged.
void SealLine(std::string& line, std::size_t begin = 0);

// The body of a line (given without its newline), or why the line is invalid.
tl::expected<std::string_view, std::string> OpenLine(std::string_view line);

}  // namespace muster
