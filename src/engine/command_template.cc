#include "engine/command_template.h"

#include <cassert>
#include <utility>

namespace muster {
namespace {

// Calls `text` for literal parts and `name` for placeholders, in order. Returns a phrase if the word is malformed.
template <class Text, class Name>
std::string Parse(std::string_view word, Text text, Name name) {
  for (std::size_t i = 0; i < word.size();) {
    const char c = word[i];
    if (c != '{' && c != '}') {
      const std::size_t end = std::min(word.find_first_of("{}", i), word.size());
      text(word.substr(i, end - i));
      i = end;
    } else if (i + 1 < word.size() && word[i + 1] == c) {
      text(word.substr(i, 1));
      i += 2;
    } else if (c == '}') {
      return "a '}' without '{'; a brace is written twice";
    } else {
      const std::size_t close = word.find_first_of("{}", i + 1);
      if (close == std::string_view::npos || word[close] != '}')
        return "a '{' that is not closed; a brace is written twice";
      if (close == i + 1) return "a placeholder without a name; a brace is written twice";
      name(word.substr(i + 1, close - i - 1));
      i = close + 1;
    }
  }
  return {};
}

}  // namespace

tl::expected<std::vector<std::string>, std::string> PlaceholdersIn(std::string_view word) {
  std::vector<std::string> names;
  std::string why = Parse(
      word, [](std::string_view) {}, [&](std::string_view name) { names.emplace_back(name); });
  if (!why.empty()) return tl::unexpected(std::move(why));
  return names;
}

std::string Filled(std::string_view word, const TemplateValues& values) {
  std::string filled;
  const std::string why = Parse(
      word, [&](std::string_view text) { filled += text; },
      [&](std::string_view name) {
        const auto value = values.texts.find(name);
        assert(value != values.texts.end());
        if (value != values.texts.end()) filled += value->second;
      });
  assert(why.empty());
  return filled;
}

std::vector<std::string> FilledCommand(std::span<const std::string> words, const TemplateValues& values) {
  std::vector<std::string> filled;
  for (const std::string& word : words) {
    const bool alone = word.size() > 2 && word.front() == '{' && word.back() == '}';
    const auto list = alone ? values.lists.find(std::string_view(word).substr(1, word.size() - 2)) : values.lists.end();
    if (list == values.lists.end()) {
      filled.push_back(Filled(word, values));
    } else {
      filled.insert(filled.end(), list->second.begin(), list->second.end());
    }
  }
  return filled;
}

}  // namespace muster
