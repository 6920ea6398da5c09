#include "base/values/text_encoding.h"

#include <algorithm>

#include "base/values/shell_quote.h"
#include "base/values/utf8.h"

namespace muster {
namespace {

// UTF-16 of mostly ASCII text, with or without the mark at its beginning.
bool IsUtf16(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) return true;
  const auto zeros = [&](std::size_t from) {
    std::size_t count = 0;
    for (std::size_t i = from; i < bytes.size(); i += 2) count += bytes[i] == '\0' ? 1 : 0;
    return count;
  };
  const std::size_t half = bytes.size() / 2;
  if (half < 4) return false;
  const std::size_t even = zeros(0);
  const std::size_t odd = zeros(1);
  return (even == 0 && odd * 10 > half * 9) || (odd == 0 && even * 10 > half * 9);
}

}  // namespace

std::optional<EncodingProblem> FindEncodingProblem(std::string_view bytes) {
  if (IsUtf16(bytes)) return EncodingProblem{"it is UTF-16", "UTF-16", 0};
  if (bytes.find('\0') != std::string_view::npos) return EncodingProblem{"it is a binary file", "", 0};
  if (IsUtf8(bytes)) return std::nullopt;
  std::size_t line = 1;
  std::size_t at = 0;
  for (std::size_t length = 0; (length = Utf8Length(bytes.substr(at))) > 0; at += length) {
    if (bytes[at] == '\n') ++line;
  }
  // Control characters other than blanks do not stand in texts.
  const bool is_binary = std::any_of(bytes.begin(), bytes.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v';
  });
  if (is_binary) return EncodingProblem{"it is a binary file", "", 0};
  std::string byte = Quoted(bytes.substr(at, 1));
  return EncodingProblem{"byte " + byte.substr(1, byte.size() - 2) + " is not UTF-8", "LATIN1", line};
}

std::string EncodingHint(const EncodingProblem& problem, const std::string& file) {
  if (problem.encoding.empty()) return {};
  return "iconv -f " + problem.encoding + " -t UTF-8 " + ShellQuoted(file) + " > NEW";
}

}  // namespace muster
