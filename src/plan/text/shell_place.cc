#include "plan/text/shell_place.h"

#include <utility>

#include "base/values/plain_text.h"
#include "base/values/shell_quote.h"

namespace muster {
namespace {

// Characters that end a word outside quotes.
constexpr std::string_view kBetweenWords = " \t\n;&|()<>";
constexpr std::string_view kInName = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Whether "${" is followed by a name and '}', an expansion that contains no quotes.
bool IsNameInBraces(std::string_view text) {
  const std::size_t end = text.find_first_not_of(kInName, 2);
  return end != std::string_view::npos && end > 2 && text[end] == '}';
}

// `text` begins with '$' or '`': whether it begins a substitution whose end is unknown.
bool Substitutes(std::string_view text) {
  if (text.front() == '`') return true;
  if (text.size() < 2) return false;
  return text[1] == '(' || text[1] == '\'' || text[1] == '"' || (text[1] == '{' && !IsNameInBraces(text));
}

std::string Escaped(std::string_view value, std::string_view which) {
  std::string text;
  for (const char c : value) {
    if (which.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::string InSingleQuotes(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

void ShellPlace::Pass(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const char before = std::exchange(before_, c);
    if (std::exchange(escaped_, false)) {
      begins_word_ = false;
      continue;
    }
    switch (where_) {
      case Where::kSingle:
        if (c == '\'') where_ = Where::kWords;
        break;
      case Where::kComment:
        if (c == '\n') {
          where_ = Where::kWords;
          begins_word_ = true;
        }
        break;
      case Where::kDouble:
        escaped_ = c == '\\';
        if (c == '"') where_ = Where::kWords;
        // A '"' here ends the string, whatever precedes it.
        if ((c == '$' || c == '`') && text.substr(at, 2) != "$\"" && text.substr(at, 2) != "$'") {
          unclear_ = unclear_ || Substitutes(text.substr(at));
        }
        break;
      case Where::kWords:
        escaped_ = c == '\\';
        if (c == '\'') where_ = Where::kSingle;
        if (c == '"') where_ = Where::kDouble;
        if (c == '#' && begins_word_) where_ = Where::kComment;
        if (c == '$' || c == '`') unclear_ = unclear_ || Substitutes(text.substr(at));
        if (c == '<' && before == '<') unclear_ = true;
        begins_word_ = kBetweenWords.find(c) != std::string_view::npos;
        break;
    }
  }
}

tl::expected<std::string, std::string> ShellPlace::Put(std::string_view value) {
  const bool unclear = unclear_ || escaped_ || (before_ == '$' && where_ != Where::kSingle);
  if (!value.empty()) {
    escaped_ = begins_word_ = false;
    before_ = 'x';
  }
  if (IsPlain(value)) return std::string(value);
  if (unclear) {
    if (IsPlain(value, " ")) return std::string(value);
    return tl::unexpected<std::string>(
        Quoted(value) +
        " has a special meaning in a shell, and it is uncertain how the shell reads the text "
        "there");
  }
  switch (where_) {
    case Where::kWords:
      return ShellQuoted(value);
    case Where::kSingle:
      return InSingleQuotes(value);
    case Where::kDouble:
      return Escaped(value, "\\$`\"");
    case Where::kComment:
      break;
  }
  if (value.find('\n') == std::string_view::npos) return std::string(value);
  return tl::unexpected<std::string>(Quoted(value) + " does not fit into a comment of a shell");
}

}  // namespace muster
