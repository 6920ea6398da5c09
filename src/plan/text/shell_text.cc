#include "plan/text/shell_text.h"

#include "base/values/endpoint.h"
#include "base/values/shell_quote.h"
#include "plan/text/shell_place.h"

namespace muster {
namespace {

Result<std::string> FillShellText(const Text& text, const Binding& binding, std::uint32_t attempt) {
  const auto pieces = Pieces(text);
  if (!pieces) return FillPlaceholders(text, binding, attempt);  // reports the error
  ShellPlace place;
  std::string filled;
  for (std::size_t at = 0; at < pieces->size(); ++at) {
    const TextPiece& piece = (*pieces)[at];
    if (!piece.hole || piece.hole->kind == Placeholder::Kind::kLiteral) {
      const std::string_view written = piece.hole ? kPlaceholderOpen : std::string_view(piece.literal);
      place.Pass(written);
      filled += written;
      continue;
    }
    const std::string hole = PlaceholderText(*piece.hole);
    const Result<std::string> value = FillPlaceholders(Text(hole), binding, attempt);
    if (!value) return Fail(value.error());
    const bool is_host =
        piece.hole->kind == Placeholder::Kind::kHostAddress || piece.hole->kind == Placeholder::Kind::kHostName;
    const auto put = place.Put(is_host && IsBeforePort(*pieces, at) ? AddressBeforePort(*value) : *value);
    if (!put) {
      return Fail(Error("binding", {}, Quoted(hole) + " cannot be filled in: " + put.error(),
                        "give it to the command by a variable (env = { … }), and write \"$VARIABLE\" in the text"));
    }
    filled += *put;
  }
  return filled;
}

}  // namespace

bool IsShellText(const std::vector<Text>& words, std::size_t word) {
  return word >= 2 && words[word - 1].marked == "-c" && words[word - 2].marked == "/bin/sh";
}

Result<std::string> FillWord(const std::vector<Text>& words, std::size_t word, const Binding& binding,
                             std::uint32_t attempt) {
  const Text& text = words[word];
  const bool has_holes = text.marked.find(kPlaceholderOpen) != std::string::npos;
  return has_holes && IsShellText(words, word) ? FillShellText(text, binding, attempt)
                                               : FillPlaceholders(text, binding, attempt);
}

}  // namespace muster
