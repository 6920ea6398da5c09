// Why the content of a file is not UTF-8 text without NUL, and which encoding it probably has.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

struct EncodingProblem {
  std::string what;      // "it is UTF-16", "byte \xfc is not UTF-8", "it is a binary file"
  std::string encoding;  // as iconv names the one that it probably has; empty for a binary file
  std::size_t line = 0;  // from 1; 0 for the file as a whole
};

// Nothing for UTF-8 without NUL.
std::optional<EncodingProblem> FindEncodingProblem(std::string_view bytes);

// The command that converts the file; empty for a binary one.
std::string EncodingHint(const EncodingProblem& problem, const std::string& file);

}  // namespace muster
